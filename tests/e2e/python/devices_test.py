"""devices_test.py SOURCE_DIR BINARY_DIR: sessions that are closed, interrupted, leased, and many at once."""
import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np

import ferry
from servers import start_farm, start_server

SOURCE, BINARY = map(Path, sys.argv[1:3])
del sys.argv[1:3]
os.environ.pop("FERRY_REMOTE", None)

ADD = "def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }"
FOREVER = "void forever(float* x) { for (volatile long i = 0;; ++i) x[0] = 1; }\n"


def ones(n=3):
    return np.ones(n, np.float32)


class DevicesTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="ferry-devices-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def forever(self):
        file = self.folder / "forever.c"
        file.write_text(FOREVER)
        return ferry.c(file, "forever(inout f32[1] x)")

    def test_a_closed_session_is_gone_and_nothing_of_it_is_usable(self):
        with ferry.connect() as device:
            add = device.compile(ADD)["add"]
            result = add(ones(), ones())
        for use in (lambda: add(ones(), ones()), result.numpy, lambda: device.put(ones())):
            with self.assertRaises(ferry.Error) as caught:
                use()
            self.assertEqual(caught.exception.code, "unavailable")
        device.close()
        here = ferry.connect("inproc://")
        array = here.compile(ADD)["add"](ones(), ones()).numpy()
        here.close()
        self.assertEqual(array.tolist(), [2, 2, 2])

    def test_another_thread_that_waits_is_woken_when_the_session_is_closed(self):
        device = ferry.connect()
        forever = self.forever().on(device)
        failures = []

        def wait():
            try:
                forever(ones(1))
            except ferry.Error as error:
                failures.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.3)
        begin = time.monotonic()
        device.close()
        thread.join(20)
        self.assertFalse(thread.is_alive())
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(len(failures), 1)

    def pressed(self, wait):
        """How long `wait` goes on after Ctrl-C, at the least of three times, as others use the machine too."""
        times = []

        def press():
            times[-1] = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)

        least = 60.0
        for _ in range(3):
            times.append(0.0)
            timer = threading.Timer(0.4, press)
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                wait()
            least = min(least, time.monotonic() - times[-1])
            timer.join()
            if least < 0.2:
                break
        return least

    def test_ctrl_c_ends_a_call_within_a_fifth_of_a_second_and_frees_the_device(self):
        address = start_server(self, SOURCE)

        def call():
            self.forever().on(ferry.connect(address))(ones(1))

        self.assertLess(self.pressed(call), 0.2)
        # There is one place, which the interrupted session gives back.
        with ferry.connect(address, queue=20) as device:
            self.assertEqual(device.put(ones()).numpy().tolist(), [1, 1, 1])

    def test_ctrl_c_ends_the_wait_for_a_place_and_for_another_threads_call(self):
        address = start_server(self, SOURCE)
        with ferry.connect(address):
            self.assertLess(self.pressed(lambda: ferry.connect(address)), 0.2)
        device = ferry.connect()
        forever = self.forever().on(device)

        def wait():
            with contextlib.suppress(ferry.Error):
                forever(ones(1))

        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.3)
        self.assertLess(self.pressed(lambda: device.put(ones())), 0.2)
        device.close()
        thread.join(20)
        self.assertFalse(thread.is_alive())

    def test_ctrl_c_ends_a_compilation_within_a_fifth_of_a_second_and_leaves_nothing_behind(self):
        product = "def mm{0}(float(M,K) A, float(K,N) B) -> (C) {{ C(m,n) +=! A(m,k) * B(k,n) * {0}.0 }}"
        text = "\n".join(map(product.format, range(1, 400)))
        device = ferry.connect()
        self.assertLess(self.pressed(lambda: device.compile(text)), 0.2)
        self.assertLess(self.pressed(lambda: ferry.compile(text, "aarch64")), 0.2)
        self.assertEqual(device.compile(ADD)["add"](ones(), ones()).numpy().tolist(), [2, 2, 2])
        # A process that ends right then waits for the thread and for nothing more.
        code = f"""
import os, signal, threading, ferry
threading.Timer(0.4, os.kill, [os.getpid(), signal.SIGINT]).start()
try:
    ferry.compile({text!r})
except KeyboardInterrupt:
    print("interrupted")
"""
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "interrupted\n", ""))

    def test_ctrl_c_ends_a_search(self):
        text = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
        # The process that searches ends its builders first, for which a busy machine takes longer.
        self.assertLess(self.pressed(lambda: ferry.tune(text, sizes={"M": 64, "N": 64, "K": 64}, budget=60,
                                                        records=str(self.folder / "r.jsonl"))), 2)

    def test_many_devices_work_at_once_in_asyncio(self):
        async def on(value):
            async with await ferry.aio.connect() as device:
                add = (await device.compile(ADD))["add"]
                result = await add(ones(), value * ones())
                self.assertTrue((await device.run(ferry.check, add.function, ones(), ones())).is_fine)
                found = await add.bench(ones(100), ones(100), repeat=6, min_repeat_ms=0.1, peak=False)
                return (await device.numpy(result)).tolist(), found.median

        async def every():
            return await asyncio.gather(*map(on, range(4)))

        for value, (result, median) in enumerate(asyncio.run(every())):
            self.assertEqual(result, [1 + value] * 3)
            self.assertGreater(median, 0)

    def test_a_task_that_is_cancelled_frees_its_device_and_leaves_others_alone(self):
        address = start_server(self, SOURCE)

        async def both():
            other = await ferry.aio.connect("inproc://")
            device = await ferry.aio.connect(address)
            forever = await device.run(self.forever().on, device.device)
            begin = time.monotonic()
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(device.run(forever, ones(1)), 0.5)
            self.assertLess(time.monotonic() - begin, 10)
            self.assertEqual((await other.put(ones())).numpy().tolist(), [1, 1, 1])
            async with await ferry.aio.connect(address, queue=20) as again:
                self.assertEqual((await again.put(ones())).numpy().tolist(), [1, 1, 1])
            await device.close()
            await other.close()

        asyncio.run(both())

    def test_boards_of_a_farm_are_leased_for_a_block(self):
        address, admin = start_farm(self, SOURCE, self.folder, ["one", "two"])
        any_board = f"farm://{address}/arch=x86_64"
        with ferry.lease(any_board, any_board, key_file=admin, queue=60) as boards:
            results = [board.compile(ADD)["add"](ones(), ones()).numpy().tolist() for board in boards]
            names = {board.name for board in boards}
            with self.assertRaises(ferry.Error) as caught:
                ferry.connect(f"farm://{address}/one", key_file=admin, queue=1)
            self.assertEqual(caught.exception.code, "busy")
        self.assertEqual((results, len(names)), ([[2, 2, 2]] * 2, 2))
        with self.assertRaises(ZeroDivisionError), ferry.lease(f"farm://{address}/one", key_file=admin, queue=30):
            1 / 0
        with ferry.lease(f"farm://{address}/one", key_file=admin, queue=30) as (board,):
            self.assertEqual(board.put(ones()).numpy().tolist(), [1, 1, 1])


if __name__ == "__main__":
    unittest.main()
