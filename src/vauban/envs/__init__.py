"""Vauban's games as environments for other libraries: `vauban.envs.pettingzoo` and `vauban.envs.gymnasium`
(docs/envs.md).
"""
