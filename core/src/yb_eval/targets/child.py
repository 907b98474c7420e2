"""One long-lived child process that is asked over its standard streams: a line in, a line out.

The thread that asks writes and reads by turns, whichever stream is ready, so that neither side can wait for the other
for ever, however large the request; a thread of its own drains stderr, where a full pipe would stop the child between
two requests too.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from yb_eval.targets.failures import clip, quoted
from yb_eval.targets.secrets import Masker

_CHUNK = 1 << 16
_STDERR_KEPT = 64 << 10
# How often a waiting thread looks whether the child has ended: a grandchild may hold its stdout open.
_GLANCE = 0.1
_DRAIN = 1.0


class ChildFailed(Exception):
    """The child did not answer as it should; the text says what came instead. It cannot be asked again.

    `left`: it ended by itself, with exit code 0 and before it said anything.
    """

    def __init__(self, reason: str, *, left: bool = False) -> None:
        super().__init__(reason)
        self.left = left


class Child:
    """A child process in a process group of its own. Not for two threads at once, except `kill`."""

    def __init__(self, command: Sequence[str], *, folder: Path, answer_limit: int, masker: Masker) -> None:
        """Starts it. Raises `OSError` if that cannot be done."""
        self._limit = answer_limit
        self._masker = masker
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=folder,
            env=_environment(),
            start_new_session=True,
        )
        self.answered = 0
        self._stdin, self._stdout = _opened(self._process.stdin), _opened(self._process.stdout)
        for stream in (self._stdin, self._stdout):
            os.set_blocking(stream.fileno(), False)
        self._said = _Tail(_opened(self._process.stderr), masker)
        self._buffer = bytearray()
        self._finished = False
        self._signalling = threading.Lock()

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Sends one line (`line` ends with a line break) and returns the line that comes back, without its end.

        Raises `ChildFailed` if the child ends, takes longer than `seconds`, or says more or less than one line.
        """
        if self._pending():
            raise ChildFailed(f"said {self._quoted()} without being asked, so its answers may be out of step")
        deadline = time.monotonic() + seconds
        rest = memoryview(line)
        with selectors.DefaultSelector() as streams:
            streams.register(self._stdin, selectors.EVENT_WRITE)
            streams.register(self._stdout, selectors.EVENT_READ)
            while (end := self._buffer.find(b"\n", max(0, len(self._buffer) - _CHUNK))) < 0:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ChildFailed(self._late(seconds, len(rest)))
                ready = {key.fileobj for key, _ in streams.select(min(left, _GLANCE))}
                if self._stdin in ready:
                    rest, more = self._write(rest)
                    if not more:
                        streams.unregister(self._stdin)
                if (self._stdout in ready or (not ready and self._has_ended())) and not self._read():
                    raise self._ended()
        if rest:
            raise ChildFailed(f"answered {self._quoted()} before it had read the request")
        if end + 1 < len(self._buffer):
            raise ChildFailed(f"answered more than one line: {self._quoted()}")
        answer = bytes(self._buffer[:end])
        self._buffer.clear()
        self.answered += 1
        return answer.removesuffix(b"\r")

    def stderr(self) -> str:
        """The end of what it wrote to stderr (at most 64 KiB), without secrets."""
        return self._said.text()

    def kill(self) -> None:
        """Ends the whole process group at once; `finish` is still to be called, by whoever asks."""
        with self._signalling, contextlib.suppress(ProcessLookupError, PermissionError):
            # Never after the leader has been waited for: its number could be somebody else's by then.
            if self._process.returncode is None:
                os.killpg(self._process.pid, signal.SIGKILL)

    def finish(self, grace: float = 0.0) -> None:
        """Ends the child and frees all it held. It may end by itself within `grace` seconds of its stdin being
        closed.
        """
        if self._finished:
            return
        self._finished = True
        with contextlib.suppress(OSError):
            self._stdin.close()
        if grace and not self._ends_within(grace):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGTERM)
            self._ends_within(grace)
        self.kill()
        with self._signalling, contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5.0)
        self._said.close()
        self._stdout.close()

    def _write(self, rest: memoryview) -> tuple[memoryview, bool]:
        """What is still to be written, and whether it can be."""
        try:
            rest = rest[os.write(self._stdin.fileno(), rest[:_CHUNK]) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:  # it reads no more; what it has to say for itself comes by stdout
            return rest, False
        return rest, bool(rest)

    def _read(self) -> bool:
        """Takes what stdout has; False at its end or if nothing is there."""
        try:
            chunk = os.read(self._stdout.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        self._buffer += chunk
        if len(self._buffer) > self._limit:
            raise ChildFailed(f"answered more than {self._limit:,} bytes: {self._quoted()}")
        return bool(chunk)

    def _pending(self) -> bool:
        return bool(self._buffer) or self._read()

    def _has_ended(self) -> bool:
        # Looks without waiting for it, so that its number stays its own until `finish`.
        if hasattr(os, "waitid"):
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return self._process.poll() is not None

    def _ends_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        pause = 0.001
        while not self._has_ended():
            if time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 2, 0.05)
        return True

    def _quoted(self) -> str:
        return quoted(bytes(self._buffer), self._masker)

    def _late(self, seconds: float, unread: int) -> str:
        came = f"; half a line came: {self._quoted()}" if self._buffer else ""
        stuck = f"; it left {unread:,} bytes of the request unread" if unread else ""
        return self._with_stderr(f"no answer within {seconds:g} s{came}{stuck}")

    def _ended(self) -> ChildFailed:
        """Why stdout is at its end."""
        half = f" after half a line: {self._quoted()}" if self._buffer else " without an answer"
        # A process whose stdout is closed is on its way out, as a rule; then its own exit code is the reason.
        if not self._ends_within(_DRAIN):
            return ChildFailed(self._with_stderr(f"closed its stdout{half}"))
        self.kill()
        with self._signalling:
            code = self._process.wait()
        how = f"was killed by {_signal_name(-code)}" if code < 0 else f"exited with code {code}"
        return ChildFailed(self._with_stderr(how + half), left=code == 0 and not self._buffer)

    def _with_stderr(self, reason: str) -> str:
        self._said.settle()
        lines = [line.strip() for line in self.stderr()[-2000:].splitlines() if line.strip()]
        return f"{reason}; its stderr ends: {clip(' | '.join(lines[-3:])[-200:])}" if lines else reason


class _Tail:
    """Reads a stream to its end on a thread and keeps the last 64 KiB."""

    def __init__(self, stream: IO[bytes], masker: Masker) -> None:
        self._stream = stream
        self._masker = masker
        self._kept = bytearray()
        self._dropped = False
        self._lock = threading.Lock()
        # Closing a file under a thread that reads it does not wake the thread; a byte in a pipe does.
        self._wake_out, self._wake_in = os.pipe()
        self._thread = threading.Thread(target=self._drain, name="yb-eval-stderr", daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        with selectors.DefaultSelector() as streams:
            streams.register(self._stream, selectors.EVENT_READ)
            streams.register(self._wake_out, selectors.EVENT_READ)
            while all(key.fileobj is self._stream for key, _ in streams.select()):
                chunk = os.read(self._stream.fileno(), _CHUNK)
                if not chunk:
                    return
                with self._lock:
                    self._kept += chunk
                    if len(self._kept) > 2 * _STDERR_KEPT:
                        del self._kept[:-_STDERR_KEPT]
                        self._dropped = True

    def settle(self) -> None:
        """Waits a moment for the rest of what an ended process wrote."""
        self._thread.join(_GLANCE)

    def text(self) -> str:
        with self._lock:
            kept, cut = bytes(self._kept), self._dropped or len(self._kept) > _STDERR_KEPT
        text = self._masker.mask(kept[-_STDERR_KEPT - self._masker.longest :].decode("utf-8", "replace"))
        # The cut may have gone through a secret, of which the rest would not be recognised.
        return text[self._masker.longest :] if cut else text

    def close(self) -> None:
        os.write(self._wake_in, b"\0")
        self._thread.join()
        self._stream.close()
        os.close(self._wake_in)
        os.close(self._wake_out)


def _opened(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _environment() -> dict[str, str]:
    # A Python child that prints without flushing would seem to hang, one in the C locale could not write UTF-8.
    return {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8", **os.environ}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
