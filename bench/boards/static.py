#!/usr/bin/env python3
"""Judges code for boards without one: what a call executes in an emulator, and LLVM's estimate of its cycles.

    bench/boards/static.py [--only PART_OF_A_NAME] [--target NAME]... [--flavour fixed|open]... [--network NET.onnx]...
        [--show NUMBER] [--json FILE]

Exports each kernel of cases.py for each board, with fixed sizes and with open ones, and calls it once in qemu-user, with
the plugin libferry_instructions.so. Prints for each the executed instructions of the call, and the cycles that llvm-mca
estimates: those of each executed block times how often it was entered, as if all data were in the first-level cache.
Both count everything: packing, borders, what is left over of tiles. Instructions are exact; cycles stand only where LLVM
has a model of the core that is good for the kernel. A spill is an instruction of the hottest block that accesses the
stack, and code is in bytes.

--network measures networks instead, with a batch of 1. Their inputs are what `ferry export` writes in its example.
--show prints the hottest blocks. --json also writes the figures to a file, with the time in seconds that it took.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import blocks as counted
from cases import BOARDS, CASES, Case

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build/release"
PLUGIN = BUILD / "lib/libferry_instructions.so"
# Blocks that execute this share of the instructions are estimated, and stand for the others.
COVERED = 0.995
CALL = "call"  # the unit of networks
PROGRAM = """#include "{name}.h"
#include "count_call.h"
#define {name}_run(...) count_call({name}_run(__VA_ARGS__))
#include "main.c"
"""


class Failure(Exception):
    pass


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{words[0]}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def export(case, board, is_fixed, folder):
    source = [case.function] if case.function.endswith(".onnx") else [HERE / "kernels.tc", "--fn", case.function]
    sizes = ["--fix" if is_fixed else "--size", case.sizes_text()]
    run(BUILD / "bin/ferry", "export", *source, *sizes, "--target", board.target, "--name", "call", "-o", folder)


def code_bytes(board, file):
    lines = run(board.tools + "size", "-A", file).splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(".text"))


def measure(case, board, is_fixed, show):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        export(case, board, is_fixed, folder)
        (folder / "counted.c").write_text(PROGRAM.format(name="call"))
        run(board.tools + "gcc", "-O1", "-static", f"-I{HERE}", f"-I{folder}", folder / "counted.c", folder / "call.o",
            folder / "call_threads.o", "-lm", "-pthread", "-o", folder / "counted")
        run(*board.emulator, "-plugin", f"{PLUGIN},blocks={folder / 'blocks'}", folder / "counted")
        executed = counted.read_blocks(folder / "blocks")
        code = code_bytes(board, folder / "call.o")
    hot = counted.hottest(executed, COVERED)
    counted.disassemble(board.triple, hot)
    instructions = counted.sum_of(executed)
    figures = {"instructions": instructions, "code_bytes": code, "spills": counted.spills_of(board.triple, hot[0])}
    if board.core and (board.models_int8 or not case.has_int8_products):
        counted.estimate_cycles(board.triple, board.core, hot)
        figures["cycles"] = counted.cycles_of(executed, hot)
    for block in hot[:show]:
        print(f"\n# {block.executed / instructions:.1%} of the instructions, entered {block.entered} times, "
              f"{len(block.encodings)} instructions, {block.cycles} cycles")
        print("\n".join(block.lines))
    return figures


def row(case, board, flavour, figures):
    cycles = f"{figures['cycles'] / 1e6:.3f}" if "cycles" in figures else "-"
    each = [f"{figures[name] / case.units:.3f}" if name in figures and case.unit != CALL else "-"
            for name in ("instructions", "cycles")]
    return (f"{case.name:28} {board.target:21} {flavour:6} {figures['instructions'] / 1e6:9.3f} {cycles:>9} "
            f"{each[0]:>8} {each[1]:>8} {figures['spills']:6} {figures['code_bytes']:9}  {case.unit}")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--target", action="append", choices=[board.target for board in BOARDS])
    parser.add_argument("--flavour", action="append", choices=["fixed", "open"])
    parser.add_argument("--network", action="append")
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def cases_of(arguments):
    if not arguments.network:
        return [case for case in CASES if arguments.only in case.name]
    # Exported networks of open sizes have no other code than fixed ones need.
    return [Case(Path(file).stem, file, {"batch": 1}, CALL, 1, "int8" in Path(file).stem) for file in arguments.network]


def main():
    arguments = options()
    boards = [board for board in BOARDS if not arguments.target or board.target in arguments.target]
    flavours = arguments.flavour or (["fixed"] if arguments.network else ["fixed", "open"])
    print("Million instructions and estimated cycles of one call, and both for each unit.\n")
    print(f"{'kernel':28} {'target':21} {'sizes':6} {'M insns':>9} {'M cycles':>9} {'insns':>8} {'cycles':>8} spills "
          f"{'code':>9}  unit")
    results, failures = [], 0
    for case in cases_of(arguments):
        for board in boards:
            for flavour in flavours:
                result = {"case": case.name, "target": board.target, "sizes": flavour, "unit": case.unit, "units": case.units}
                begin = time.monotonic()
                try:
                    figures = measure(case, board, flavour == "fixed", arguments.show)
                    print(row(case, board, flavour, figures), flush=True)
                except Failure as failure:
                    failures += 1
                    figures = {"error": str(failure)}
                    print(f"{case.name:28} {board.target:21} {flavour:6} {failure}", flush=True)
                results.append(result | figures | {"seconds": time.monotonic() - begin})
    if arguments.json:
        arguments.json.write_text(json.dumps({"results": results}, indent=1) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
