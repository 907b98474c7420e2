"""An event loop of one's own in a thread of its own.

A backend that speaks over a network keeps its connections on one loop for all its life, whoever asks it and from wherever:
plain code, threads, a notebook whose own loop is running, one `asyncio.run` after another. So connections are shared and
kept alive, and nothing outlives the loop that it belongs to.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

T = TypeVar("T")

#: Seconds that connections get to close.
_CLOSING = 5.0


class Closed(Exception):
    """The loop was closed before the work was done."""


class Background:
    """Runs coroutines on a loop of its own, which is started when first needed.

    `close()` cancels what is under way and ends loop and thread; so does the end of the process. It is not usable in a
    forked child: see `usable`.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._finalizer: Callable[[], Any] | None = None
        self._at_end: list[Callable[[], Awaitable[None]]] = []

    @property
    def usable(self) -> bool:
        """Whether this is the process that the loop belongs to."""
        return self._process == os.getpid()

    def at_end(self, close: Callable[[], Awaitable[None]]) -> None:
        """Has `close` awaited on the loop before it ends. It must not refer to whoever owns this object."""
        self._at_end.append(close)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, for which this thread waits. Raises `Closed`."""
        future = self._submit(work)
        try:
            return future.result()
        except CancelledError:
            raise Closed from None
        except BaseException:
            future.cancel()  # Ctrl-C ends the waiting, so the work too
            raise

    async def join(self, work: Coroutine[Any, Any, T]) -> T:
        """The same for a coroutine of another loop, which goes on meanwhile. Raises `Closed`."""
        future = self._submit(work)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._closed and (task is None or not task.cancelling()):
                raise Closed from None
            raise

    def close(self) -> None:
        with self._lock:
            self._closed = True
            finalizer = self._finalizer
        if finalizer is not None and self.usable:
            finalizer()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if self._closed:
                work.close()
                raise Closed
            if self._loop is None:
                self._start()
            assert self._loop is not None
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _start(self) -> None:
        loop = asyncio.new_event_loop()
        # A daemon: the finalizer, which runs when the interpreter ends, is what ends it.
        thread = threading.Thread(target=_run, args=(loop,), name=self._name, daemon=True)
        thread.start()
        self._loop = loop
        self._finalizer = weakref.finalize(self, _stop, loop, thread, self._at_end, self._process)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


def _stop(
    loop: asyncio.AbstractEventLoop,
    thread: threading.Thread,
    at_end: list[Callable[[], Awaitable[None]]],
    process: int,
) -> None:
    async def end() -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for close in at_end:
            with contextlib.suppress(Exception):
                await close()
        await loop.shutdown_asyncgens()
        await asyncio.sleep(0)  # transports say goodbye in the loop's next round

    if loop.is_closed() or process != os.getpid():  # a forked child has the loop but not the thread that runs it
        return
    ended = asyncio.run_coroutine_threadsafe(end(), loop)
    if threading.current_thread() is thread:  # collected by the garbage collector on the loop's own thread
        ended.add_done_callback(lambda _: loop.stop())
        return
    with contextlib.suppress(Exception):
        ended.result(_CLOSING)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(_CLOSING)
