"""Devices in asyncio: many at once, each with a thread of its own that waits for it.

    async def on(address):
        async with await ferry.aio.connect(address) as device:
            mm = (await device.compile(text))["mm"]
            return await mm.bench(A, B)

    results = await asyncio.gather(*map(on, addresses))

A task that is cancelled while it waits for a device closes the session, so that the device is free for others. What
computes in this process ("inproc://") or compiles is waited for.
"""
from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

import ferry
from ferry import _ferry

T = TypeVar("T")


class AsyncDevice:
    """A device whose methods are coroutines; connect() makes it."""

    def __init__(self, device: _ferry.Device, thread: ThreadPoolExecutor) -> None:
        self.device, self._thread = device, thread

    async def run(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        """Calls a function of ferry that uses the device, on the device's thread: await device.run(ferry.check, mm, A, B)."""
        future = asyncio.get_running_loop().run_in_executor(self._thread, lambda: work(*args, **named))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            self.device.close()
            await asyncio.wait([future])
            future.exception()  # is that of the closed session
            raise

    async def compile(self, source: Any, **options: Any) -> AsyncModule:
        """Device.compile()."""
        return AsyncModule(self, await self.run(self.device.compile, source, **options))

    async def load(self, module: _ferry.CompiledModule) -> AsyncModule:
        """Device.load()."""
        return AsyncModule(self, await self.run(self.device.load, module))

    async def put(self, array: Any) -> _ferry.Tensor:
        """Device.put()."""
        return await self.run(self.device.put, array)

    async def numpy(self, tensor: _ferry.Tensor) -> Any:
        """Tensor.numpy()."""
        return await self.run(tensor.numpy)

    async def close(self) -> None:
        """Ends the session. To close twice does nothing."""
        self.device.close()
        self._thread.shutdown(wait=False)

    async def __aenter__(self) -> AsyncDevice:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncModule:
    """Functions that a device has loaded, as coroutines."""

    def __init__(self, device: AsyncDevice, module: _ferry.Module) -> None:
        self.module, self._device = module, device

    def __getitem__(self, name: str) -> AsyncFunction:
        return AsyncFunction(self._device, self.module[name])


class AsyncFunction:
    """A function of a device: `await mm(A, B)`, with the arguments of Function's methods."""

    def __init__(self, device: AsyncDevice, function: _ferry.Function) -> None:
        self.function, self._device = function, device

    async def __call__(self, *args: Any, **named: Any) -> Any:
        """Function.__call__()."""
        return await self._device.run(self.function, *args, **named)

    async def bench(self, *args: Any, **named: Any) -> _ferry.Measurement:
        """Function.bench()."""
        return await self._device.run(self.function.bench, *args, **named)

    async def check(self, *args: Any, **named: Any) -> _ferry.CheckReport:
        """ferry.check()."""
        return await self._device.run(ferry.check, self.function, *args, **named)


async def connect(address: str = "", **options: Any) -> AsyncDevice:
    """ferry.connect(), with its options. A task that is cancelled while it waits for a place gives up its request as soon as
    it is answered."""
    thread = ThreadPoolExecutor(1, "ferry-device")
    future = asyncio.get_running_loop().run_in_executor(thread, lambda: ferry.connect(address, **options))
    try:
        return AsyncDevice(await asyncio.shield(future), thread)
    except asyncio.CancelledError:
        future.add_done_callback(lambda done: None if done.exception() else done.result().close())
        thread.shutdown(wait=False)
        raise
    except BaseException:
        thread.shutdown(wait=False)
        raise
