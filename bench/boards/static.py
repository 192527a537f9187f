#!/usr/bin/env python3
"""Judges code for boards without one: what a call executes in an emulator, and LLVM's estimate of its cycles.

    bench/boards/static.py [--only PART_OF_A_NAME] [--target NAME]... [--flavour fixed|open]... [--network NET.onnx]...
        [--peers] [--show NUMBER] [--json FILE]

Exports each kernel of cases.py for each board, with fixed sizes and with open ones, and calls it once in qemu-user, with
the plugin libferry_instructions.so. Prints for each the executed instructions of the call, and the cycles that llvm-mca
estimates: those of each executed block times how often it was entered, as if all data were in the first-level cache.
Both count everything: packing, borders, what is left over of tiles. Instructions are exact; cycles stand only where
LLVM has a model of the core that is good for the kernel. A spill is an instruction of the hottest block that accesses
the stack, and code is in bytes.

--network measures networks instead, with a batch of 1. Their inputs are what `ferry export` writes in its example.
--peers adds a row for each peer (peers.py) below that of fixed sizes: gcc's code for plain loops and, on ARM, libraries.
It ends with ferry's instructions and cycles over the peer's. --show prints the hottest blocks. --json also writes the
figures to a file, with the time in seconds that it took.
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
from peers import peers_of

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


def count(emulator, command, folder):
    """Runs a program that counts a call, and returns the blocks of the call."""
    run(*emulator, "-plugin", f"{PLUGIN},blocks={folder / 'blocks'}", *command)
    return counted.read_blocks(folder / "blocks")


def figures_of(executed, case, board, show):
    hot = counted.hottest(executed, COVERED)
    counted.disassemble(board.triple, hot)
    instructions = counted.sum_of(executed)
    figures = {"instructions": instructions, "spills": counted.spills_of(board.triple, hot[0])}
    if board.core and (board.models_int8 or not case.has_int8_products):
        counted.estimate_cycles(board.triple, board.core, hot)
        figures["cycles"] = counted.cycles_of(executed, hot)
    for block in hot[:show]:
        print(f"\n# {block.executed / instructions:.1%} of the instructions, entered {block.entered} times, "
              f"{len(block.encodings)} instructions, {block.cycles} cycles")
        print("\n".join(block.lines))
    return figures


def measure(case, board, is_fixed, show):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        export(case, board, is_fixed, folder)
        (folder / "counted.c").write_text(PROGRAM.format(name="call"))
        run(board.tools + "gcc", "-O1", "-static", f"-I{HERE}", f"-I{folder}", folder / "counted.c", folder / "call.o",
            folder / "call_threads.o", "-lm", "-pthread", "-o", folder / "counted")
        executed = count(board.emulator, [folder / "counted"], folder)
        code = code_bytes(board, folder / "call.o")
    return figures_of(executed, case, board, show) | {"code_bytes": code}


def measure_peer(peer, case, board, show):
    if not peer.is_there(board):
        raise Failure("not here; scripts/board_peers.sh downloads it")
    with tempfile.TemporaryDirectory() as name:
        options, command = peer.command(case, board, Path(name), run)
        return figures_of(count((*board.emulator, *options), command, Path(name)), case, board, show)


def row(case, board, flavour, figures, end):
    cycles = f"{figures['cycles'] / 1e6:.3f}" if "cycles" in figures else "-"
    each = [f"{figures[name] / case.units:.3f}" if name in figures and case.unit != CALL else "-"
            for name in ("instructions", "cycles")]
    return (f"{case.name:28} {board.target:21} {flavour:12} {figures['instructions'] / 1e6:9.3f} {cycles:>9} "
            f"{each[0]:>8} {each[1]:>8} {end}  {case.unit}")


def code_of(figures):
    return f"{figures['spills']:6} {figures['code_bytes']:9}"


def ratios_of(figures, peer_figures):
    return {f"ferry_{name}_over_peer": figures[name] / peer_figures[name]
            for name in ("instructions", "cycles") if name in figures and name in peer_figures}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--target", action="append", choices=[board.target for board in BOARDS])
    parser.add_argument("--flavour", action="append", choices=["fixed", "open"])
    parser.add_argument("--network", action="append")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def cases_of(arguments):
    if not arguments.network:
        return [case for case in CASES if arguments.only in case.name]
    # Exported networks of open sizes have no other code than fixed ones need.
    return [Case(Path(file).stem, file, {"batch": 1}, CALL, 1, "int8" in Path(file).stem) for file in arguments.network]


class Table:
    """Prints the rows as they are measured, and keeps the figures."""

    def __init__(self, show):
        self.show = show
        self.results = []
        self.failures = 0
        print("Million instructions and estimated cycles of one call, and both for each unit. Rows of peers end with "
              "ferry's over theirs.\n")
        print(f"{'kernel':28} {'target':21} {'sizes, peer':12} {'M insns':>9} {'M cycles':>9} {'insns':>8} "
              f"{'cycles':>8} spills {'code':>9}  unit")

    def add(self, case, board, flavour, measured, end_of):
        """Measures and prints a row. `end_of` says the end of a row of such figures."""
        result = {"case": case.name, "target": board.target, "sizes": flavour, "unit": case.unit, "units": case.units}
        begin = time.monotonic()
        try:
            figures = measured()
            print(row(case, board, flavour, figures, end_of(figures)), flush=True)
        except Failure as failure:
            self.failures += 1
            figures = {"error": str(failure)}
            print(f"{case.name:28} {board.target:21} {flavour:12} {failure}", flush=True)
        self.results.append(result | figures | {"seconds": time.monotonic() - begin})
        return figures

    def add_peer(self, peer, case, board, figures):
        def end(peer_figures):
            ratios = ratios_of(figures, peer_figures)
            peer_figures |= ratios
            return " ".join(f"{ratio:.2f}" for ratio in ratios.values()).rjust(16)

        self.add(case, board, peer.name, lambda: measure_peer(peer, case, board, self.show), end)


def main():
    arguments = options()
    boards = [board for board in BOARDS if not arguments.target or board.target in arguments.target]
    flavours = arguments.flavour or (["fixed"] if arguments.network else ["fixed", "open"])
    table = Table(arguments.show)
    for case in cases_of(arguments):
        for board in boards:
            for flavour in flavours:
                is_fixed = flavour == "fixed"
                figures = table.add(case, board, flavour, lambda: measure(case, board, is_fixed, arguments.show), code_of)
                if arguments.peers and is_fixed:
                    for peer in peers_of(case, board):
                        table.add_peer(peer, case, board, figures)
    if arguments.json:
        arguments.json.write_text(json.dumps({"results": table.results}, indent=1) + "\n")
    return 1 if table.failures else 0


if __name__ == "__main__":
    sys.exit(main())
