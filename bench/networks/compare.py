#!/usr/bin/env python3
"""Measures networks with ferry and with ONNX Runtime in turns, on one thread.

    build/bench/networks/bin/python bench/networks/compare.py FOLDER [NAME ...]

FOLDER holds what bench/networks/export.py wrote. Prints for each network the fastest call of each, and the median of the
rounds' ratios with the smallest and the largest: ferry's time over ONNX Runtime's.
"""
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime

ROUNDS, CALLS = 5, 8
FERRY = Path(__file__).resolve().parents[2] / "build/release/bin/ferry"


def ferry_seconds(file: Path) -> float:
    words = ["bench", str(file), "--size", "N=1", "--no-peak", "--threads", "1", "--repeat", str(CALLS), "--json"]
    done = subprocess.run([FERRY, *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["results"][0]["minimum_seconds"]


def runtime_seconds(session: onnxruntime.InferenceSession, x: np.ndarray) -> float:
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        session.run(None, {"x": x})
        times.append(time.perf_counter() - start)
    return min(times)


def compare(file: Path) -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    x = np.load(file.with_suffix(".x.npy"))
    rounds = [(ferry_seconds(file), runtime_seconds(session, x)) for _ in range(ROUNDS)]
    ratios = sorted(ours / theirs for ours, theirs in rounds)
    print(f"{file.stem}: ferry {min(r[0] for r in rounds) * 1e3:.2f} ms, ONNX Runtime {min(r[1] for r in rounds) * 1e3:.2f} ms, "
          f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    for file in [folder / f"{name}.onnx" for name in sys.argv[2:]] or sorted(folder.glob("*.onnx")):
        compare(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
