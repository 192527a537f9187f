#!/usr/bin/env python3
"""Measures networks with ferry and with other libraries in turns.

    build/bench/networks/bin/python bench/networks/compare.py FOLDER [--only NAME]... [--threads N]... [--rounds N]
        [--without LIBRARY]... [--json FILE]

FOLDER holds what bench/networks/export.py wrote. Each library runs in a process of its own, on the last of the processors
that may be used. Prints for each network and number of threads the fastest and the median call of each library, and the
median of the rounds' ratios with the smallest and the largest: ferry's fastest call of a round over the other's.
Fails where a result differs from ONNX Runtime's by more than 1e-4 of the largest element. --without mnn leaves out a
library that cannot read a network, as MNN cannot read those of export_int8.py.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from peers import inputs_of

CALLS, MAX_ERROR = 8, 1e-4
PEERS = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "mnn": "MNN"}
ROOT = Path(__file__).resolve().parents[2]
FERRY = ROOT / "build/release/bin/ferry"


class Ferry:
    def __init__(self, file: Path, cores: list[int]):
        self.file = file
        self.cores = cores
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "y.npy"
            given = [word for name in inputs_of(file) for word in ("--arg", f"{name}=@{file.with_suffix(f'.{name}.npy')}")]
            subprocess.run(["taskset", "-c", ",".join(map(str, cores)), FERRY, "run", file, *given, "--out", f"y=@{out}"],
                           check=True, capture_output=True)
            y, expected = np.load(out), np.load(file.with_suffix(".y.npy"))
        self.error = float(np.abs(y - expected).max() / np.abs(expected).max())

    def seconds(self) -> list[float]:
        words = ["bench", self.file, "--size", "N=1", "--no-peak", "--threads", str(len(self.cores)), "--cores",
                 ",".join(map(str, self.cores)), "--number", "1", "--repeat", str(CALLS), "--max-repeat", str(CALLS),
                 "--min-repeat-ms", "0", "--json"]
        done = subprocess.run([FERRY, *words], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["results"][0]["seconds"]


class Peer:
    def __init__(self, library: str, file: Path, cores: list[int]):
        program = Path(__file__).with_name("peers.py")
        self.process = subprocess.Popen(
            ["taskset", "-c", ",".join(map(str, cores)), sys.executable, program, library, file, str(len(cores))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        first = self.answer()
        self.version, self.error = first["version"], first["error"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"expected an answer, got the end of the process: {' '.join(map(str, self.process.args))}")
        return json.loads(line)

    def seconds(self) -> list[float]:
        print(CALLS, file=self.process.stdin, flush=True)
        return self.answer()

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def compare(file: Path, threads: int, rounds: int, libraries: list[str]) -> dict:
    cores = sorted(os.sched_getaffinity(0))[-threads:]
    peers = {name: Peer(name, file, cores) for name in libraries}
    sides = {"ferry": Ferry(file, cores), **peers}
    calls = [{name: side.seconds() for name, side in sides.items()} for _ in range(rounds)]
    for peer in peers.values():
        peer.end()
    result = {"network": file.stem, "threads": threads, "libraries": {}}
    for name, side in sides.items():
        all_calls = [seconds for one in calls for seconds in one[name]]
        found = {"error": side.error, "minimum_seconds": min(all_calls), "median_seconds": statistics.median(all_calls)}
        if name != "ferry":
            found["version"] = side.version
            found["ratios"] = sorted(min(one["ferry"]) / min(one[name]) for one in calls)
        result["libraries"][name] = found
    return result


def cells(result: dict) -> list[str]:
    """Returns a line of the table for one network."""
    def times(library: dict) -> str:
        return f"{library['minimum_seconds'] * 1e3:.2f}, {library['median_seconds'] * 1e3:.2f}"
    found = result["libraries"]
    line = [result["network"], str(result["threads"]), times(found["ferry"])]
    peers = [name for name in found if name != "ferry"]
    for name in peers:
        ratios = found[name]["ratios"]
        line += [times(found[name]), f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"]
    best = min(peers, key=lambda name: found[name]["minimum_seconds"])
    return [*line, f"{found[best]['minimum_seconds'] / found['ferry']['minimum_seconds']:.2f} ({PEERS[best]})"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", help="this network alone")
    parser.add_argument("--threads", action="append", type=int, help="default: 1 and 2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without", action="append", choices=PEERS, default=[], help="leaves out a library")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    libraries = [name for name in PEERS if name not in options.without]
    if not libraries:
        sys.exit("expected a library to compare with, got all of them after --without")
    heads = ["network", "threads", "ferry, ms"]
    for name in libraries:
        heads += [f"{PEERS[name]}, ms", "ratio"]
    print("Fastest and median call; ratio: ferry's time over the other's.\n")
    print("| " + " | ".join([*heads, "ferry's speed over the best's"]) + " |")
    print("| --- " * (len(heads) + 1) + "|", flush=True)
    results = []
    files = sorted(options.folder.glob("*.onnx"))
    if options.only:
        files = [options.folder / f"{name}.onnx" for name in options.only]
    available = len(os.sched_getaffinity(0))
    for file in files:
        for threads in options.threads or [1, 2]:
            if threads > available:
                sys.exit(f"expected at most {available} threads, one for each processor, got {threads}")
            results.append(compare(file, threads, options.rounds, libraries))
            print("| " + " | ".join(cells(results[-1])) + " |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    wrong = [f"{one['network']} with {one['threads']} threads by {name}: {library['error']:.2g}" for one in results
             for name, library in one["libraries"].items() if not library["error"] <= MAX_ERROR]
    if wrong:
        print("differs from ONNX Runtime: " + ", ".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
