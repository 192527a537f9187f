"""Boards of farms for as long as a block lasts."""
# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from ferry import _ferry


class Lease:
    """Boards that are leased together; lease() makes it. The block's variable is a tuple of their devices, in order.

        with ferry.lease("farm://lab/rpi4", "farm://lab/rpi4") as (a, b):
            ...

    They are given back at the end of the block, whatever ends it.
    """

    def __init__(self, addresses: Sequence[str], key_file: str, queue: float) -> None:
        self._addresses, self._key_file, self._queue = list(addresses), key_file, queue
        self._devices: list[_ferry.Device] = []

    def __enter__(self) -> tuple[_ferry.Device, ...]:
        boards = _ferry._share_boards(self._addresses, self._key_file)
        try:
            for address, board in zip(self._addresses, boards):
                shared = board if _ferry._is_leased(board) else None
                self._devices.append(_ferry._connect(address, self._key_file, [], self._queue, shared))
        except BaseException:
            self._give_back()
            raise
        return tuple(self._devices)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._give_back()

    def _give_back(self) -> None:
        while self._devices:
            self._devices.pop().close()


def lease(*addresses: str, key_file: str = "", queue: float = 0) -> Lease:
    """A context manager for several devices at once: boards of one farm are granted together or not at all.

    addresses: as of connect(); the same selector twice stands for two boards. Others than farms are connected to.
    queue: seconds to wait for the boards; 0: as long as it takes. Ctrl-C ends the wait.
    Raises Error with the code "busy" if they were not to be had in that time.
    """
    return Lease(addresses, key_file, queue)
