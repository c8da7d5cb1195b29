"""Vauban's games as environments of others: `vauban.envs.pettingzoo` and `vauban.envs.gymnasium` (docs/envs.md)."""
