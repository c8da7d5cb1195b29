"""Deep CFR with outcome sampling: regrets of single plays, learned by networks (docs/deep-cfr.md)."""
