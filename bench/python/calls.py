"""Times importing ferry and calls of it in this process, beside those of NumPy, PyTorch and Apache TVM where they are
installed. What is compared takes turns.

    PYTHONPATH=build/release/python python bench/python/calls.py [--rounds 40]

A call adds two arrays of three floats: what it takes beyond that is its overhead. Without --no-imports, each package is also
imported in processes of its own.
"""
from __future__ import annotations

import argparse
import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import ferry

CALLS = 2000
ADD = "def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }"


def three(make: Callable[[Any], Any] = lambda array: array) -> list[Any]:
    return [make(np.zeros(3, np.float32)) for _ in range(3)]


def add_ferry(cases: dict[str, Callable[[], Any]], torch_arrays: list[Any]) -> None:
    device = ferry.connect("inproc://")
    add = device.compile(ADD)["add"]
    arrays, tensors = three(), three(device.put)
    cases["ferry, arrays of NumPy"] = lambda: add(*arrays)
    if torch_arrays:
        cases["ferry, tensors of PyTorch"] = lambda: add(*torch_arrays)
    cases["ferry, tensors of its own"] = lambda: add(*tensors)
    cases["ferry, bound"] = add.bind(*arrays[:2], out=arrays[2])


def add_tvm(cases: dict[str, Callable[[], Any]], torch_arrays: list[Any]) -> None:
    import tvm
    from tvm import te

    n = te.var("n")
    a, b = (te.placeholder((n,), "float32", name=name) for name in "AB")
    c = te.compute((n,), lambda i: a[i] + b[i], name="C")
    add = tvm.compile(tvm.IRModule({"main": te.create_prim_func([a, b, c])}), target="llvm")["main"]
    arrays, tensors = three(), three(tvm.runtime.tensor)
    cases["TVM, arrays of NumPy"] = lambda: add(*arrays)
    if torch_arrays:
        cases["TVM, tensors of PyTorch"] = lambda: add(*torch_arrays)
    cases["TVM, tensors of its own"] = lambda: add(*tensors)


def microseconds(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - begin) / CALLS * 1e6


def print_times(found: dict[str, list[float]], unit: str) -> None:
    for name, times in found.items():
        print(f"{name:28s} least {min(times):8.2f} {unit}, median {statistics.median(times):8.2f} {unit}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--no-imports", action="store_true")
    options = parser.parse_args()
    others = [name for name in ("numpy", "torch", "tvm") if importlib.util.find_spec(name)]
    cases: dict[str, Callable[[], Any]] = {}
    torch_arrays: list[Any] = []
    arrays = three()
    cases["numpy.add(a, b, out=c)"] = lambda: np.add(arrays[0], arrays[1], out=arrays[2])
    if "torch" in others:
        import torch

        torch.set_num_threads(1)
        torch_arrays = three(torch.from_numpy)
        cases["torch.add(a, b, out=c)"] = lambda: torch.add(torch_arrays[0], torch_arrays[1], out=torch_arrays[2])
    add_ferry(cases, torch_arrays)
    if "tvm" in others:
        add_tvm(cases, torch_arrays)
    found: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(options.rounds):
        for name, call in cases.items():
            found[name].append(microseconds(call))
    print_times(found, "us")
    if options.no_imports:
        return
    imports: dict[str, list[float]] = {f"import {name}": [] for name in ["sys", "ferry", *others]}
    for _ in range(max(3, options.rounds // 4)):
        for name, times in imports.items():
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", name], check=True)
            times.append((time.perf_counter() - begin) * 1e3)
    print_times(imports, "ms")


if __name__ == "__main__":
    main()
