"""Processes that work for this one: how they are started, and how they begin."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing.connection import wait
from typing import Any


def process_context(*modules: str) -> Any:
    """How processes are started: as copies of one that has imported these modules, so that they share its memory."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(modules))
    return context


def start_server(context: Any) -> None:
    """Start the process that is copied, deaf to Ctrl-C: it would take that for an error while it still imports."""
    if context.get_start_method() != "forkserver" or threading.current_thread() is not threading.main_thread():
        return
    from multiprocessing import forkserver

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # what it is started with, it keeps
    try:
        forkserver.ensure_running()
    finally:
        signal.signal(signal.SIGINT, before)


def become_worker() -> None:
    """What a worker does first: it leaves Ctrl-C to whoever started it, ends with it, and keeps to one core."""
    # Ctrl-C reaches every process of a terminal; whoever hands the work out decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.unraisablehook = _end_all_the_same
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import torch

    torch.set_num_threads(1)


def _end_all_the_same(unraised: sys.UnraisableHookArgs) -> None:
    """The compiler calls Python back, where nothing can be raised: to be told to end there still means the end."""
    if isinstance(unraised.exc_value, SystemExit):
        os._exit(1)
    sys.__unraisablehook__(unraised)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, even in the middle of a long thought."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
