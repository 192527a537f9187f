#!/usr/bin/env python3
"""Compares modules of networks whose sizes are open with those compiled for one size.

    python3 bench/networks/open_sizes.py FOLDER [--only NAME]... [--size N=1,H=224,W=224,T=128] [--hints SIZES]
        [--processes N] [--threads N] [--ferry FILE] [--json FILE]

FOLDER holds networks with open dimensions, such as those of bench/networks/export.py. For each, `ferry compile --fix`
makes the fixed module, and `ferry compile --size` the open one, which is told the same sizes as hints, or with --hints
others, or none (--hints ''). `ferry compare` measures both in turns, on the inputs of one seed, and fails where their results differ.
Prints the processor time of both compilations without a cache, the bytes of both modules without weights, the median
times of a call, and the ratio of the open module's time to the fixed one's with its interval of 99%.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADS = ["network", "open sizes", "compiling, s: fixed, open", "code, KB: fixed, open", "call, ms: fixed, open",
         "open / fixed"]


def sizes_of(text: str) -> dict[str, int]:
    return {name: int(size) for name, size in (one.split("=") for one in text.split(",") if one)}


def text_of(sizes: dict[str, int]) -> str:
    return ",".join(f"{name}={size}" for name, size in sizes.items())


class Ferry:
    def __init__(self, program: Path):
        self.program = program

    def run(self, *words) -> str:
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, check=False,
                              env={**os.environ, "FERRY_CACHE_DISABLE": "1"})
        if done.returncode != 0:
            sys.exit(f"ferry {' '.join(map(str, words))}: {done.stderr.strip()}")
        return done.stdout

    def symbols(self, network: Path) -> list[str]:
        return json.loads(self.run("inspect", network, "--json"))["symbols"]

    def compile(self, network: Path, module: Path, *words) -> float:
        """Returns the processor time in seconds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.run("compile", network, "-o", module, *words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def code_bytes(self, module: Path) -> int:
        return json.loads(self.run("inspect", module, "--json"))["bytes"]


def measure(ferry: Ferry, network: Path, known: dict[str, int], options) -> dict:
    symbols = ferry.symbols(network)
    sizes = {name: known[name] for name in symbols}
    expected = {name: size for name, size in sizes_of(options.hints).items() if name in symbols}
    with tempfile.TemporaryDirectory() as folder:
        fixed, opened = Path(folder) / "fixed.ferry", Path(folder) / "open.ferry"
        hints = ["--size", text_of(expected)] if expected else []
        seconds = [ferry.compile(network, fixed, "--fix", text_of(sizes)), ferry.compile(network, opened, *hints)]
        found = json.loads(ferry.run("compare", opened, fixed, "--threads", options.threads, "--size", text_of(sizes),
                                     "--processes", options.processes, "--json"))
        bytes_of = [ferry.code_bytes(fixed), ferry.code_bytes(opened)]
    opened_seconds, fixed_seconds = (kernel["median_seconds"] for kernel in found["kernels"])
    return {"network": network.stem, "sizes": sizes, "compile_seconds": seconds, "code_bytes": bytes_of,
            "call_seconds": [fixed_seconds, opened_seconds], "ratio": found["ratio"],
            "interval_99": found["interval_99"]}


def cells(result: dict) -> list[str]:
    """Returns a line of the table for one network."""
    low, high = result["interval_99"]
    return [result["network"], text_of(result["sizes"]),
            ", ".join(f"{seconds:.2f}" for seconds in result["compile_seconds"]),
            ", ".join(f"{size / 1e3:.0f}" for size in result["code_bytes"]),
            ", ".join(f"{seconds * 1e3:.2f}" for seconds in result["call_seconds"]),
            f"{result['ratio']:.2f} ({low:.2f} to {high:.2f})"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", help="this network alone")
    parser.add_argument("--size", default="N=1,H=224,W=224,T=128", help="those that a network lacks are left out")
    parser.add_argument("--hints", help="default: the sizes of the call")
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ferry", type=Path, default=ROOT / "build/release/bin/ferry")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.hints is None:
        options.hints = options.size
    networks = sorted(options.folder.glob("*.onnx"))
    if options.only:
        networks = [options.folder / f"{name}.onnx" for name in options.only]
    if not networks:
        sys.exit(f"expected networks (*.onnx) in {options.folder}")
    for line in (HEADS, ["---"] * len(HEADS)):
        print("| " + " | ".join(line) + " |")
    results = []
    for network in networks:
        results.append(measure(Ferry(options.ferry), network, sizes_of(options.size), options))
        print("| " + " | ".join(cells(results[-1])) + " |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
