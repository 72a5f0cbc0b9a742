"""Group commits: many answers share one wait for the disk, and no answer counts before the disk has it."""

import asyncio
from collections.abc import Callable

from belief_utils.asking.store import Store

#: Seconds from one wait for the disk to the next; what came in between shares it.
EVERY = 0.05


class Commits:
    """Waits for the disk in a thread, while requests go on.

    Every answer is handed to the system at once, so that killing the process loses none; this is about the power
    supply. An answer is acknowledged when the disk has it.

    Args:
        store: held for writing.
        acknowledged: called with the number of answers that are safe now.
        failed: called with the error if the disk cannot take them.
    """

    def __init__(
        self, store: Store, acknowledged: Callable[[int], None], failed: Callable[[BaseException], None]
    ) -> None:
        self._store, self._acknowledged, self._failed = store, acknowledged, failed
        self._waiting = 0
        self._finishing = False
        self._running: asyncio.Future[None] | None = None

    def wrote(self, answers: int) -> None:
        """So many more answers were written and wait to be safe."""
        self._waiting += answers
        if self._running is None:
            self._start()

    async def finish(self) -> None:
        """Wait until everything that was written is safe, or has failed."""
        self._finishing = True
        while self._running is not None:
            await asyncio.wait([self._running])
            # Its callbacks, which may start the next one, run before this goes on.
            await asyncio.sleep(0)

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        self._running = loop.create_future()
        number, self._waiting = self._waiting, 0
        work = loop.run_in_executor(None, self._store.sync)
        work.add_done_callback(lambda done: self._done(number, done))

    def _done(self, number: int, work: "asyncio.Future[None]") -> None:
        if error := (work.exception() if not work.cancelled() else asyncio.CancelledError()):
            self._failed(error)
        else:
            self._acknowledged(number)
        asyncio.get_running_loop().call_later(0 if self._finishing else EVERY, self._next, self._running)

    def _next(self, running: "asyncio.Future[None]") -> None:
        self._running = None
        if self._waiting:
            self._start()
        running.set_result(None)
