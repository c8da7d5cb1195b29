"""A guard beside a foreign program: it starts the program, and sees to it that nothing of it stays behind.

    python -I -S guard.py LIFELINE REPORT MEMORY CPU PROGRAM [ARGUMENT ...]

LIFELINE is the file descriptor of a pipe whose other end the starting process holds. S and C on it
stop and continue the program with all its processes. Once the pipe ends, because that process
closed it, died or was killed, the guard kills whatever the program has started, processes that have
left its group too, and ends. It does the same when the program ends by itself. REPORT is the
descriptor of another pipe, on which the process id of the program is told, for the case that the guard is
killed itself; the program dies with it then (Linux).
MEMORY (bytes) and CPU (seconds) are the limits of each of the program's processes, 0 for none.

A script, not a module: it imports nothing of Vauban, to be there in a few milliseconds. Its exit code is
the program's, 128 + the signal if one has killed it, 127 if it could not be started.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import time

KILL_SECONDS = 5.0


def main() -> int:
    lifeline, report, memory, cpu = (int(word) for word in sys.argv[1:5])
    command = sys.argv[5:]
    for descriptor in (lifeline, report):
        os.set_inheritable(descriptor, False)
    adopt_orphans()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    parent = os.getppid()
    bot = os.fork()
    if bot == 0:
        become(command, memory, cpu, report)
    os.close(report)
    # The pipes are the program's alone: what holds them open must be the program, so that their end is its end.
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    code = watch(bot, lifeline, woken, parent)
    bury(bot)
    return code


def become(command: list[str], memory: int, cpu: int, report: int) -> None:
    """In the new process: be the program."""
    try:
        os.setsid()
        process_control(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: no program without a guard
        os.write(report, str(os.getpid()).encode())
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory:
            # Address space would count what Java merely reserves: under 4 GB of it no Java starts.
            limit(resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS, memory)
        if cpu:
            limit(resource.RLIMIT_CPU, cpu)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]} cannot be started: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def limit(which: int, most: int) -> None:
    """Lower a limit of this process, as far as the system lets us."""
    _, hard = resource.getrlimit(which)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    try:
        resource.setrlimit(which, (most, most))
    except (OSError, ValueError, OverflowError):
        os.write(2, b"a limit could not be set on this system\n")


def watch(bot: int, lifeline: int, woken: int, parent: int) -> int:
    """Wait until the program has ended or nobody wants it any more."""
    while True:
        # A process that was forked from ours may hold the lifeline too: so our parent is looked after as well.
        ready, _, _ = select.select([lifeline, woken], [], [], 1.0)
        if woken in ready:
            os.read(woken, 4096)
            pid, status = os.waitpid(bot, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
        if lifeline in ready:
            orders = os.read(lifeline, 4096)
            if not orders:
                return 128 + signal.SIGKILL
            for order in orders:
                send(bot, {ord("S"): signal.SIGSTOP, ord("C"): signal.SIGCONT}[order])
        if os.getppid() != parent:
            return 128 + signal.SIGKILL


def send(group: int, which: int) -> None:
    """Send a signal to a process group, if there is one."""
    try:  # noqa: SIM105 – contextlib would be the slowest import
        os.killpg(group, which)
    except (ProcessLookupError, PermissionError):
        pass


def bury(bot: int) -> None:
    """Kill all that the program has started, and wait until it is gone."""
    deadline = time.monotonic() + KILL_SECONDS
    while time.monotonic() < deadline:
        send(bot, signal.SIGKILL)
        for child in children():
            try:  # noqa: SIM105
                os.kill(child, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def adopt_orphans() -> None:
    """Become the parent of what the program leaves behind, so that it can be found (Linux)."""
    process_control(36, 1)  # PR_SET_CHILD_SUBREAPER


def process_control(what: int, value: int) -> None:
    """Set something that only Linux knows of."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(what, value, 0, 0, 0)


def children() -> list[int]:
    """Return the processes whose parent we are, born or adopted (Linux)."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else []:  # noqa: PTH112, PTH208 – no pathlib: it is slow
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if parent == os.getpid():
                found.append(int(name))
    return found


if __name__ == "__main__":
    sys.exit(main())
