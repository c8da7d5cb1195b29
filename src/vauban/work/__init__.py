"""Tasks that are done elsewhere: in other processes, on a Ray cluster, or by a pool of standing workers.

A task is any object that can be pickled and has `run(tell)`. Tasks that are known beforehand go to an executor
(`vauban.work.executors`), which yields their results. Tasks that come one by one, each with a caller that waits for it,
go to a pool (`vauban.work.pool`).
"""
