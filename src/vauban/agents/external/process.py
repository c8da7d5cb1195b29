"""`BotProcess`: a foreign program with which one talks in lines, without ever waiting for it too long.

Its answers are read under a deadline for the whole line, it is written to without blocking, what it
says on standard error is drained all the time, and it never outlives us (`guard`).
"""

from __future__ import annotations

import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Literal, NoReturn

from vauban.agents.base import AgentError
from vauban.errors import ConfigurationError
from vauban.words import shortened

GUARD = str(Path(__file__).with_name("guard.py"))
LONGEST_LINE = 1024
"""Bytes; more without a line feed is babble."""
KEPT_STDERR = 64 * 1024
"""Bytes: so much of the end of what it said on standard error is kept."""
KEPT_LINES = 60
"""Number of the latest lines between us that are kept."""
MOST_MEMORY = 2**30
"""MiB: more than there is anywhere."""
LAST_WORDS = 8
"""Number of lines of standard error in a message."""
PICTURES = 0x2400
"""First of Unicode's signs for the first 32 control characters: ␛ for an escape."""
LONGEST_WORDS = 600
"""Characters of them."""
PATIENCE = 10.0
"""Seconds that a killed program may take to be gone."""

KINDS = {
    "silent": "it has not said anything since it was started",
    "late": "it has not answered, or not ended its line, in time",
    "crashed": "it has ended, or closed its output, in the middle of the game",
    "babbling": "its line does not end",
    "bad setup": "its setup is none",
    "unintelligible": "its answer is no move",
    "illegal": "its move may not be played",
}
"""The kinds of misbehaviour of a bot."""
REASONS: dict[str, Literal["illegal", "time", "failed"]] = {"silent": "time", "late": "time", "crashed": "failed"}
"""By kind: how the game is lost; all others are answers that are none."""


def split_command(command: str | Sequence[str]) -> list[str]:
    """Return the words of a command; no shell is asked."""
    try:
        return shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise ConfigurationError(f"the command of a bot, {command!r}, cannot be split into words: {error}") from error


def check_command(command: Sequence[str], text: str, *, memory: int, cwd: str | None) -> None:
    """Refuse a command that can never work; `text` is how it was given, `memory` is in MiB."""
    if os.name != "posix":
        raise ConfigurationError(
            "programs of others are played on Linux and macOS only (on Windows: in WSL): their limits are POSIX's"
        )
    if not command:
        raise ConfigurationError("the command of a bot is empty: give a program and its arguments")
    if not 0 <= memory <= MOST_MEMORY:
        raise ConfigurationError(f"memory is in MiB, at least 0 (no limit) and at most {MOST_MEMORY:,}, not {memory}")
    if cwd is not None and not Path(cwd).is_dir():
        raise ConfigurationError(f"there is no folder {cwd!r} to start {text!r} in")
    program = command[0]
    beside = os.path.join(cwd or ".", program)  # noqa: PTH118 – a Path would drop the ./ that keeps it off the PATH
    if shutil.which(beside if os.sep in program else program) is None:
        if not Path(beside).exists():
            there = "cannot be found"
        elif os.sep in program:
            there = "is not executable"
        else:
            there = f"is not on the PATH; for the one in this folder write ./{program}"
        raise ConfigurationError(f"the program {program!r} of the bot {text!r} {there}")


class BotError(AgentError):
    """A bot misbehaved: it loses this game, and nothing else has happened."""

    def __init__(
        self, kind: str, sentence: str, *, answer: str | None = None, stderr: str = "", spoke: bool = True
    ) -> None:
        super().__init__(sentence)
        self.kind = kind
        """One of `KINDS`."""
        self.reason = REASONS.get(kind, "illegal")
        self.answer = answer
        """The line that was wrong, if there was one."""
        self.stderr = stderr
        """The end of what the bot has said on standard error."""
        self.spoke = spoke


class BotProcess:
    """A running program."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        memory: int = 0,
        cpu_seconds: int = 0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start it. `memory` is in bytes, for each of its processes; 0 is no limit."""
        read_end, lifeline = os.pipe()
        born, report = os.pipe()
        descriptors = (str(read_end), str(report))
        guard = [sys.executable, "-I", "-S", GUARD, *descriptors, str(memory), str(cpu_seconds), *command]
        try:
            self._guard = subprocess.Popen(
                guard,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[read_end, report],
                cwd=cwd,
                env=None if environment is None else dict(environment),
                start_new_session=True,  # Ctrl-C is for us; the guard sees to the rest
            )
        except BaseException:
            os.close(lifeline)
            os.close(born)
            raise
        finally:
            os.close(read_end)
            os.close(report)
        assert self._guard.stdin is not None and self._guard.stdout is not None and self._guard.stderr is not None
        self._stdin, self._stdout = self._guard.stdin, self._guard.stdout
        for stream in (self._stdin, self._stdout):
            os.set_blocking(stream.fileno(), False)
        self._lifeline = lifeline
        self._lets_go = weakref.finalize(self, _let_go, self._guard, lifeline, born)
        self._outgoing = bytearray()
        self._incoming = bytearray()
        self._ended = False
        self._deaf = False
        self._spoke = False
        self.returns = False
        """Whether it ends lines with a carriage return and a line feed, which is taken for a line feed."""
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        """The latest lines: "> " before ours, "< " before its."""
        self._errors = _Tail()
        self._drain = threading.Thread(target=self._errors.fill, args=(self._guard.stderr,), daemon=True)
        self._drain.start()

    # ── Talking ──────────────────────────────────────────────────────────────────────────────────

    def send(self, *lines: str) -> None:
        """Write lines; what the program does not take now is written while we wait for its answers.

        That it has gone away is not noticed here: an answer may still be on its way.
        """
        for line in lines:
            self.lines.append(f"> {line}")
            self._outgoing += f"{line}\n".encode("ascii", "replace")
        self._write()

    def end_input(self) -> None:
        """Let it see the end of its input."""
        self._write()
        self._stdin.close()
        self._deaf = True

    def read_line(self, seconds: float) -> str:
        """Return its next line, without the line feed. Raises `BotError` if it does not come, whole, in this time.

        A line that it has said earlier is taken first.
        """
        deadline = time.monotonic() + seconds
        while True:
            line, feed, _ = self._incoming.partition(b"\n")
            if len(line) > LONGEST_LINE:
                self._fail("babbling", f"it sent {len(line):,} characters or more without ending the line")
            if feed or (self._ended and line):
                del self._incoming[: len(line) + len(feed)]
                self.returns = self.returns or line.endswith(b"\r")
                text = harmless(line.removesuffix(b"\r").decode("ascii", "backslashreplace"))
                self.lines.append(f"< {text}")
                return text
            if self._ended:
                self._fail("crashed", self.how_it_ended())
            left = deadline - time.monotonic()
            if not self._wait(max(0.0, left)) and left <= 0:
                self._fail_late(seconds)

    def overhear(self) -> bool:
        """Keep what it has said with its words on standard error, if we talk to it elsewhere; False at its end."""
        self._wait(0.0)
        self._errors.add(bytes(self._incoming))
        self._incoming.clear()
        return not self._ended

    def fileno(self) -> int:
        """Return the descriptor on which it is heard."""
        return self._stdout.fileno()

    def waiting(self) -> bool:
        """Return whether it has said something that nobody has asked for yet."""
        if not self._incoming and not self._ended:
            self._wait(0.0)
        return bool(self._incoming)

    def _wait(self, seconds: float) -> bool:
        """Wait until it says something (True), and write meanwhile what it takes."""
        poll = select.poll()
        listens = self._stdout.fileno()
        poll.register(listens, select.POLLIN)
        if self._outgoing and not self._deaf:
            poll.register(self._stdin, select.POLLOUT)
        ready = {descriptor for descriptor, _ in poll.poll(1000 * min(seconds, 10**6))}
        if ready - {listens}:
            self._write()
        if listens not in ready:
            return False
        with suppress(BlockingIOError):
            more = os.read(self._stdout.fileno(), 4096)
            self._incoming += more
            self._spoke = self._spoke or bool(more)
            self._ended = not more
        return True

    def _write(self) -> None:
        try:
            while self._outgoing and not self._deaf:
                del self._outgoing[: os.write(self._stdin.fileno(), self._outgoing)]
        except BlockingIOError:
            pass
        except OSError:  # a broken pipe: it has ended, or does not listen any more
            self._deaf = True

    def _fail_late(self, seconds: float) -> NoReturn:
        half = harmless(bytes(self._incoming).decode("ascii", "backslashreplace"))
        if half:
            sentence = f"it sent {shortened(half)}, and no end of the line within {seconds:g} s"
            self._fail("late", sentence, answer=half)
        kind = "late" if self._spoke else "silent"
        self._fail(kind, f"it sent nothing within {seconds:g} s. Does it flush its output after every line?")

    def _fail(self, kind: str, sentence: str, answer: str | None = None) -> NoReturn:
        self.close(grace=0.0)
        raise BotError(kind, sentence, answer=answer, stderr=self.stderr, spoke=self._spoke)

    # ── Its life ─────────────────────────────────────────────────────────────────────────────────

    @property
    def stderr(self) -> str:
        """The end of what it has said on standard error."""
        return self._errors.text

    def how_it_ended(self) -> str:
        """Return a sentence about its end, with its last words."""
        self._finish_reading()
        code = self._guard.poll()
        if code is None:
            sentence = "it closed its output"
        elif code < 0:
            sentence = f"the process that watches over it was killed by {signal.Signals(-code).name}"
        elif code > 128 and code - 128 in {*signal.Signals}:
            sentence = f"it was killed by {signal.Signals(code - 128).name}"
        elif code == 127:
            sentence = "it could not be started"
        else:
            sentence = f"it ended with exit code {code}"
        return sentence + last_words(self.stderr)

    def _finish_reading(self) -> None:
        """After the end of its output: let the rest of it end too, so that its code and last words are there."""
        with suppress(subprocess.TimeoutExpired):
            self._guard.wait(0.5)
            self._drain.join(0.5)

    def pause(self) -> None:
        """Stop it and all its processes until `resume`."""
        self._order(b"S")

    def resume(self) -> None:
        """Let it go on."""
        self._order(b"C")

    def _order(self, order: bytes) -> None:
        if self._lets_go.alive:
            with suppress(BrokenPipeError):  # the guard has ended, and the program with it
                os.write(self._lifeline, order)

    def close(self, grace: float = 1.0) -> bool:
        """End its input, give it this time to end by itself, then kill it; True if it went by itself."""
        if not self._lets_go.alive:
            return True
        self.resume()
        deadline = time.monotonic() + grace
        while self._outgoing and not self._deaf and not self._ended and (left := deadline - time.monotonic()) > 0:
            self._incoming.clear()
            self._wait(min(left, 0.05))
        self._stdin.close()
        went = True
        try:
            self._guard.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            went = False
        self._lets_go()
        self._drain.join(1.0)
        for stream in (self._stdout, self._guard.stderr):
            if stream is not None:
                stream.close()
        return went


def _let_go(guard: subprocess.Popen[bytes], lifeline: int, born: int) -> None:
    """Cut the lifeline: the guard kills everything and ends. If it cannot any more, kill what we know of."""
    os.close(lifeline)
    try:
        guard.send_signal(signal.SIGCONT)  # the program may have stopped it
        guard.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        guard.kill()
        guard.wait()
    if guard.returncode < 0:  # somebody has killed the guard
        os.set_blocking(born, False)
        with suppress(BlockingIOError, ProcessLookupError, PermissionError, ValueError):  # or there is nothing to kill
            os.killpg(int(os.read(born, 32)), signal.SIGKILL)
    os.close(born)


def last_words(stderr: str) -> str:
    """Return the end of what a bot said on standard error, to be put behind a sentence; nothing if it said nothing."""
    words = " / ".join(stderr.strip().splitlines()[-LAST_WORDS:])
    if len(words) > LONGEST_WORDS:
        words = f"… {words[-LONGEST_WORDS:]}"
    return f". Its last words on standard error: {words}" if words else ""


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def harmless(text: str) -> str:
    """Return a text with signs in place of control characters, which would do something to a terminal."""
    return _CONTROL.sub(lambda found: chr(PICTURES + ord(found[0])) if found[0] < " " else "\ufffd", text)


class _Tail:
    """The end of a stream."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._lock = threading.Lock()

    def fill(self, stream: IO[bytes]) -> None:
        """Read until the stream ends."""
        with suppress(OSError, ValueError):  # closed under us
            while more := os.read(stream.fileno(), 65536):
                self.add(more)

    def add(self, more: bytes) -> None:
        with self._lock:
            self._kept += more
            del self._kept[:-KEPT_STDERR]

    @property
    def text(self) -> str:
        with self._lock:
            said = bytes(self._kept)
        return harmless(said.decode("utf-8", "replace").replace("\r\n", "\n"))
