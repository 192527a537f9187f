#!/usr/bin/env python3
"""Measures how long a device of `ferry tune` is idle at the other end of a link.

    bench/tune/far_device.py [--round-trip MS]... [--budget 15s] [--size M=256,N=256,K=256] [--ferry PROGRAM]

Starts an rpc_server on loopback and a relay before it that delivers each byte half a round trip later in either direction,
and tunes a product through it. Prints the trials a second, and for which share of the time the server had nothing to do
while the client waited for an answer: that is, while there was a trial. Time in which the search waits for builds does not
count, but where builds are slow, few trials are on their way, and each waits for the link alone.
"""
import argparse
import asyncio
import json
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
PREAMBLE_BYTES, HEADER_BYTES, REQUEST, RESPONSE = 48, 32, 1, 2


class Frames:
    """Counts the frames of one kind in one direction of a connection (rpc/PROTOCOL.md)."""

    def __init__(self, kind, skipped):
        self.kind, self.skipped, self.header, self.left, self.count, self.is_counted = kind, skipped, b"", 0, 0, False

    def feed(self, data):
        while data:
            if self.skipped or self.left:
                taken = min(self.skipped or self.left, len(data))
                if self.skipped:
                    self.skipped -= taken
                else:
                    self.left -= taken
                    self.count += self.left == 0 and self.is_counted
                data = data[taken:]
                continue
            taken = min(HEADER_BYTES - len(self.header), len(data))
            self.header, data = self.header + data[:taken], data[taken:]
            if len(self.header) == HEADER_BYTES:
                payload, body = struct.unpack_from("<QI", self.header, 16)
                self.is_counted, self.left, self.header = self.header[2] == self.kind, payload + body, b""
                self.count += self.left == 0 and self.is_counted


class Relay:
    def __init__(self, port, one_way_seconds):
        self.port, self.delay, self.waited, self.idle, self.connections = port, one_way_seconds, 0.0, 0.0, []

    async def start(self):
        self.server = await asyncio.start_server(self.connect, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def connect(self, client, to_client):
        self.connections.append(asyncio.current_task())
        server, to_server = await asyncio.open_connection("127.0.0.1", self.port)
        for end in (to_client, to_server):
            end.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        asked, delivered = Frames(REQUEST, PREAMBLE_BYTES), Frames(REQUEST, PREAMBLE_BYTES)
        answered, returned = Frames(RESPONSE, 0), Frames(RESPONSE, 0)
        last = time.monotonic()

        def account():
            nonlocal last
            now = time.monotonic()
            if asked.count > returned.count:
                self.waited += now - last
                self.idle += now - last if delivered.count == answered.count else 0
            last = now

        async def lane(source, destination, arrived, left):
            queue = asyncio.Queue()

            async def deliver():
                while (piece := await queue.get())[1]:
                    await asyncio.sleep(max(0, piece[0] - time.monotonic()))
                    account()
                    left.feed(piece[1])
                    destination.write(piece[1])
                destination.close()

            task = asyncio.create_task(deliver())
            data = b"more"
            while data:
                try:
                    data = await source.read(1 << 16)
                except ConnectionError:
                    data = b""
                account()
                arrived.feed(data)
                queue.put_nowait((time.monotonic() + self.delay, data))
            await task

        await asyncio.gather(lane(client, to_server, asked, delivered), lane(server, to_client, answered, returned))


async def tune(options, round_trip_ms):
    program = ROOT / "build/release/device-runtime/rpc_server"
    server = subprocess.Popen([program, "--insecure-plaintext", "--port", "0"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    try:
        while not (port := re.search(r"127\.0\.0\.1:(\d+)", server.stdout.readline())):
            if server.poll() is not None:
                sys.exit("rpc_server has ended")
        relay = Relay(int(port[1]), round_trip_ms / 2000)
        with tempfile.TemporaryDirectory() as folder:
            done = await asyncio.create_subprocess_exec(
                options.ferry, "tune", "-e", PRODUCT, "--size", options.size, "--threads", "1", "--budget", options.budget,
                "--processes", "0", "--records", f"{folder}/records.jsonl", "--json", "--remote",
                f"plaintext://127.0.0.1:{await relay.start()}", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            out, err = await done.communicate()
        await asyncio.wait(relay.connections, timeout=5)
        if done.returncode != 0:
            sys.exit(err.decode()[-2000:])
    finally:
        server.terminate()
        server.wait()
    trials = [line for line in map(json.loads, out.splitlines()) if "outcome" in line]
    seconds = trials[-1]["progress"]["elapsed_seconds"]
    print(f"{round_trip_ms:g} ms: {len(trials)} trials, {len(trials) / seconds:.1f} a second, idle for "
          f"{100 * relay.idle / relay.waited:.0f}% of {relay.waited:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--round-trip", type=float, action="append", help="default: 0, 20 and 60")
    parser.add_argument("--budget", default="15s")
    parser.add_argument("--size", default="M=256,N=256,K=256")
    parser.add_argument("--ferry", default=ROOT / "build/release/bin/ferry")
    options = parser.parse_args()
    for round_trip in options.round_trip or [0, 20, 60]:
        asyncio.run(tune(options, round_trip))


if __name__ == "__main__":
    main()
