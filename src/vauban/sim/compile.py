"""Compilation of kernels: the same plain functions, for the CPU with numba and for CUDA with numba-cuda.

`compiled(function, target)` compiles a kernel and, through the names it uses, every kernel that it
calls. Compiled CPU code is kept on disk under a fingerprint of all of Vauban's kernels, so that a
change in one file never meets stale code from another.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any, cast

from vauban.errors import ConfigurationError, install_command

CPU, CUDA = "cpu", "cuda"

Hooks = Mapping[str, Callable[..., Any]]
NO_HOOKS: Hooks = MappingProxyType({})

_compiled: dict[tuple[Any, ...], Any] = {}


def compiled(function: Callable[..., Any], target: str, hooks: Hooks = NO_HOOKS, **constants: Any) -> Any:
    """Return the kernel compiled for a target ("cpu" or "cuda").

    Constants replace module-level names of the same spelling in the kernel and in all that it
    calls, before compilation: branches on them cost nothing. (So a constant's name must be one that
    no kernel uses for anything else.) Hooks are put in where the kernel, or one that it calls, or a
    hook, uses a function marked with `@hook`.
    """
    return _compiled_once(function, target, hooks, constants, outermost=True)


def _compiled_once(
    function: Callable[..., Any], target: str, hooks: Hooks, constants: dict[str, Any], outermost: bool
) -> Any:
    hooks = hooks if _uses_hooks(function) else NO_HOOKS
    key = (function, target, tuple(sorted(hooks.items())), tuple(sorted(constants.items())), outermost)
    if key not in _compiled:
        plain = bound(function, target, hooks, **constants)
        if target == CPU:
            _compiled[key] = _compile_cpu(plain, hooks, constants, outermost)
        else:
            _compiled[key] = cuda().jit(plain, device=True)
    return _compiled[key]


def bound(function: Callable[..., Any], target: str, hooks: Hooks = NO_HOOKS, **constants: Any) -> FunctionType:
    """Return an uncompiled copy of a plain function that sees the target's kernels, primitives and constants."""
    plain = cast(FunctionType, function)
    names = dict(plain.__globals__)
    for name in plain.__code__.co_names:
        value = names.get(name)
        if name in constants:
            names[name] = constants[name]
        elif getattr(value, "__primitive__", False):
            names[name] = primitives(target)[name]
        elif getattr(value, "__hook__", False):
            names[name] = _compiled_once(hooks[name], target, hooks, constants, outermost=False)
        elif getattr(value, "__kernel__", False):
            names[name] = _compiled_once(cast(FunctionType, value), target, hooks, constants, outermost=False)
    copy = FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__)
    copy.__qualname__, copy.__module__ = plain.__qualname__, plain.__module__
    return copy


@cache
def _uses_hooks(function: Callable[..., Any]) -> bool:
    plain = cast(FunctionType, function)
    used = [plain.__globals__.get(name) for name in plain.__code__.co_names]
    return any(
        getattr(value, "__hook__", False) or (getattr(value, "__kernel__", False) and _uses_hooks(value))
        for value in used
        if callable(value)
    )


ARRAY_MAKERS = frozenset({"arange", "copy", "empty", "empty_like", "full", "ones", "zeros", "zeros_like"})
"""The functions by which a kernel may make arrays: only those of agents do, which run on the CPU."""
ARRAY_HINT = (
    f"A kernel makes an array by {', '.join(f'np.{name}' for name in sorted(ARRAY_MAKERS))} and by nothing else, and "
    "copies one to another in a loop."
)


@cache
def _makes_arrays(function: Callable[..., Any]) -> bool:
    """Return whether a kernel, or one that it calls, makes an array; those that hooks stand for are not looked at."""
    plain = cast(FunctionType, getattr(function, "py_func", function))
    names = plain.__code__.co_names
    if not ARRAY_MAKERS.isdisjoint(names):
        return True
    used = [plain.__globals__.get(name) for name in names]
    return any(_makes_arrays(each) for each in used if getattr(each, "__kernel__", False) or hasattr(each, "py_func"))


def _compile_cpu(function: FunctionType, hooks: Hooks, constants: dict[str, Any], outermost: bool) -> Any:
    # Python calls the outermost function alone; ways from Python into the others would be a fifth of the compiling.
    inner = {} if outermost else {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    # Where no array is made, references to arrays need no counting, which took three quarters of a game's time.
    counts = _makes_arrays(function) or any(map(_makes_arrays, hooks.values()))
    dispatcher = _njit()(function, nogil=True, error_model="numpy", _nrt=counts, **inner)
    # What is kept holds all that it calls. The fingerprint knows our own files only: kernels from
    # elsewhere are compiled afresh in every process.
    ours = all(each.__module__.startswith("vauban.") for each in (function, *hooks.values()))
    if outermost and ours and _can_write():
        dispatcher._cache = _disk_cache(function, hooks, constants)
    return dispatcher


@cache
def _njit() -> Any:
    """Return numba's decorator, once no two functions of any two processes can bear the same name.

    Compiled code is linked by name, and code that was kept comes with the names of another process.
    numba numbers them from 1 in every process: one function bound in two ways, or two functions that
    numba makes for itself, could then be taken for each other, and the process crash.
    """
    from numba import njit
    from numba.core.bytecode import FunctionIdentity

    FunctionIdentity._unique_ids = iter(lambda: secrets.randbits(64), None)
    return njit


@cache
def cuda() -> Any:
    """Return the `numba.cuda` module, or an error that says how to get it."""
    import numpy as np

    if not hasattr(np, "row_stack"):
        # numba-cuda up to 0.30 imports a name that NumPy 2.5 no longer has.
        np.row_stack = np.vstack
    try:
        import numba_cuda  # noqa: F401  (numba has a module `cuda` of its own, which is no longer kept up)
        from numba import cuda as module
    except ImportError as error:
        raise ConfigurationError(f'device "cuda" needs numba-cuda: {install_command("cuda")}') from error
    from numba.core import config

    # A batch may be smaller than the GPU; that is the caller's choice.
    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    return module


@cache
def primitives(target: str) -> dict[str, Any]:
    """Return the primitives that each target supplies by itself (`vauban.games.kernel`)."""
    if target == CPU:
        from vauban.sim import primitives_cpu as source
    else:
        from vauban.sim import primitives_cuda as source  # type: ignore[no-redef]
    names = ("popcount", "lowest", "add_code", "float_bits", "clock")
    return {name: getattr(source, name) for name in names if hasattr(source, name)}


# ── The cache on disk ────────────────────────────────────────────────────────────────────────────


def cache_base() -> Path:
    """Return the folder of what is kept between commands; `VAUBAN_CACHE` names another place."""
    chosen = os.environ.get("VAUBAN_CACHE")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "vauban"


def cache_folder() -> Path:
    """Return the folder that keeps compiled kernels."""
    return cache_base() / f"kernels-{fingerprint()}"


@cache
def _can_write() -> bool:
    """Return whether compiled kernels can be kept; print a note once if they cannot."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(f"compiled kernels are not kept: {error} (VAUBAN_CACHE names another folder)", file=sys.stderr)
        return False
    return os.access(cache_folder(), os.W_OK)


@cache
def fingerprint(folders: frozenset[Path] = frozenset()) -> str:
    """Return a name for the present state of the files that hold the rules, and kernels in these folders."""
    digest = hashlib.sha256(f"{version('numba')} {sys.version}".encode())
    package = Path(__file__).parent.parent
    for folder in ("games", "observe", "sim"):
        for file in sorted((package / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    for place in sorted(folders):
        for file in sorted(place.glob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _folders(function: FunctionType, hooks: Hooks) -> frozenset[Path]:
    """Return the folders of a kernel, and of all that it calls."""
    found: set[Path] = set()
    seen: set[str] = set()
    waiting = [function, *(cast(FunctionType, each) for each in hooks.values())]
    while waiting:
        plain = waiting.pop()
        plain = getattr(plain, "py_func", plain)
        if plain.__qualname__ + plain.__module__ in seen:
            continue
        seen.add(plain.__qualname__ + plain.__module__)
        found.add(Path(plain.__code__.co_filename).parent)
        used: list[Any] = [plain.__globals__.get(name) for name in plain.__code__.co_names]
        waiting += [each for each in used if hasattr(each, "__kernel__") or hasattr(each, "py_func")]
    return frozenset(found)


def _digest(hooks: Hooks, constants: dict[str, Any]) -> str:
    """Return a short name for the hooks and constants that a function was bound to."""
    settings = [f"{name}={value}" for name, value in sorted(constants.items())]
    settings += [f"{name}={hook.__module__}.{hook.__qualname__}" for name, hook in sorted(hooks.items())]
    return hashlib.sha256(",".join(settings).encode()).hexdigest()[:12]


def _disk_cache(function: FunctionType, hooks: Hooks, constants: dict[str, Any]) -> Any:
    """Return numba's cache of compiled functions, kept in our folder and named by our fingerprint."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

    name = f"{function.__module__}.{function.__name__}"
    digest = _digest(hooks, constants)
    kept = f"{name}-{digest}"
    stamp = fingerprint(_folders(function, hooks))

    class Locator(_CacheLocator):  # type: ignore[misc]
        def __init__(self) -> None:
            self._py_func = function

        def get_cache_path(self) -> str:
            return str(cache_folder())

        def get_source_stamp(self) -> str:
            return stamp

        def get_disambiguator(self) -> str:
            return digest

    class Impl(CompileResultCacheImpl):  # type: ignore[misc]
        def __init__(self, _: Any) -> None:
            self._lineno = function.__code__.co_firstlineno
            self._locator = Locator()
            self._filename_base = kept

    class Cache(FunctionCache):  # type: ignore[misc]
        _impl_class = Impl
        missed: Callable[[], None] | None = None
        """Called when nothing is kept, so that compiling begins."""

        def load_overload(self, *arguments: Any) -> Any:
            # A file that is damaged, or vanishes, is as good as none: forget it, and compile.
            found = None
            with _locked(kept, shared=True):
                try:
                    found = super().load_overload(*arguments)
                except Exception:
                    with suppress(OSError):
                        self.flush()
            if found is None and self.missed is not None:
                self.missed()
            return found

        def save_overload(self, *arguments: Any) -> None:
            # An index and the file it names are two writes, which belong together.
            with _locked(kept), suppress(OSError):
                super().save_overload(*arguments)

    return Cache(function)


# ── The first call of a compiled function ────────────────────────────────────────────────────────

PATIENCE = 0.7
"""Seconds of compiling after which a note tells a person what takes so long."""

_announced = False


class _FirstCalls:
    """The seconds that first calls of kernels have taken, those of several threads at once counted once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way = 0
        self._since = self._seconds = 0.0

    def seconds(self, now: float) -> float:
        with self._lock:
            return self._seconds + (now - self._since if self._under_way else 0.0)

    def __enter__(self) -> None:
        with self._lock:
            if not self._under_way:
                self._since = time.perf_counter()
            self._under_way += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._under_way -= 1
            if not self._under_way:
                self._seconds += time.perf_counter() - self._since


_first_calls = _FirstCalls()


def working_seconds() -> float:
    """Return the seconds of a clock that stands still while this process compiles a kernel, waits for another process
    that does, or loads what was kept."""
    now = time.perf_counter()
    return now - _first_calls.seconds(now)


@contextmanager
def progress(function: Any, what: str) -> Iterator[None]:
    """Report on the terminal what a call compiles, and how long it took, if it is the first one.

    Plain lines, so that they do no harm to a progress bar or in a log. A kernel that cannot be
    compiled raises an error that begins with the place in its source.
    """
    if function.overloads:
        yield
        return
    # One process at a time compiles a function: the next finds it kept.
    with _first_calls, _locked(function.__name__):
        yield from _announcing(function, what)


@contextmanager
def _locked(name: str, shared: bool = False) -> Iterator[None]:
    """Keep other processes, or only those that write, away from the kernels kept under this name."""
    try:
        import fcntl

        lock = (cache_folder() / f"{name}.lock").open("w")
    except (ImportError, OSError):  # not on this system; or nothing can be kept
        yield
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield


def _announcing(function: Any, what: str) -> Iterator[None]:
    begun: float | None = None
    cache: Any = getattr(function, "_cache", None)
    kept = hasattr(cache, "missed")
    timer = threading.Timer(PATIENCE, _announce, [function.__name__, what, kept])
    timer.daemon = True

    def begin() -> None:
        nonlocal begun
        if begun is None:
            begun = time.perf_counter()
            timer.start()

    if kept:
        cache.missed = begin  # what is found where it is kept is not announced, only loaded
    else:
        begin()
    try:
        yield
    except Exception as error:
        if type(error).__module__.startswith("numba"):
            places = re.findall(r'File "([^"]+)", line (\d+)', str(error))
            place = f"{places[0][0]}, line {places[0][1]}: " if places else ""
            hint = f"\n{ARRAY_HINT}" if "NRT required" in str(error) else ""
            raise ConfigurationError(f"{place}a kernel of {what} cannot be compiled:\n{error}{hint}") from error
        raise
    finally:
        timer.cancel()
        if kept:
            cache.missed = None
        if begun is not None and (seconds := time.perf_counter() - begun) > PATIENCE:
            print(f"  {function.__name__}: {seconds:.0f} s", file=sys.stderr, flush=True)


def _announce(name: str, what: str, kept: bool) -> None:
    global _announced
    if not _announced:
        kept_words = " (kept for the next time)" if kept else ""
        print(f"compiling what this command needs{kept_words}", file=sys.stderr, flush=True)
        _announced = True
    print(f"  {name} of {what} …", file=sys.stderr, flush=True)
