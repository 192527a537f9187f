#!/usr/bin/env python3
"""Compares what `ferry tune` finds in a short time with what TVM's MetaSchedule finds in a long one, in one thread.

    build/bench/tvm/bin/python bench/tune/against_metaschedule.py [--only PART_OF_A_NAME] [--seconds 300] [--trials 10000]
        [--batch 64] [--budget 30s] [--rounds 9] [--keep] [--json FILE]

For each kernel of operators.py, MetaSchedule searches for --seconds, which begin once its libraries are loaded, or for
--trials, then `ferry tune` for --budget, both from nothing. Then both are timed in turns, each in a process of its own on
the last of the processors that may be used. A round takes the fastest of several batches of calls, each of at least a
millisecond, of either side; all calls have the same inputs, since TVM's time_evaluator knows no others. Printed is the
median of the rounds' ratios, MetaSchedule's time over ferry's, with the smallest and the largest. Fails where a result
differs from NumPy's by more than 1e-4 of the largest element. The records of MetaSchedule stay in
build/bench/tvm-tuned; with --keep it does not search again.
"""
import argparse
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from metaschedule import NOTHING_FOUND
from operators import CASES, RESULTS, inputs_of, reference_of, sizes_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FERRY = ROOT / "build/release/bin/ferry"
KERNELS = HERE / "operators.tc"
BATCHES, MAX_ERROR = 8, 1e-4


def run(*words, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def search_with_metaschedule(kernel, sizes, folder, options):
    """Leaves the best in the folder, and for how many seconds it searched. Returns false if it found nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = [sys.executable, HERE / "metaschedule.py"]
    with open(folder / "search.log", "w") as log:
        search = subprocess.Popen([*program, "search", kernel, sizes, folder, str(options.trials),
                                   str(options.batch)], text=True,
                                  stdout=subprocess.PIPE, stderr=log, start_new_session=True)
        while (line := search.stdout.readline()) and line.strip() != "begin":
            pass
        begin = time.monotonic()
        try:
            search.communicate(timeout=options.seconds)
        except subprocess.TimeoutExpired:
            pass
        seconds = time.monotonic() - begin
        try:
            os.killpg(search.pid, signal.SIGKILL)  # with the processes that it builds and measures in
        except ProcessLookupError:
            pass
        search.wait()
    built = subprocess.run(list(map(str, [*program, "build", kernel, sizes, folder])), capture_output=True, text=True)
    if built.returncode == NOTHING_FOUND:
        return False
    if built.returncode != 0:
        sys.exit(f"{kernel} {sizes}: {built.stderr[-2000:]}")
    (folder / "seconds.json").write_text(json.dumps(seconds))
    return True


class MetaSchedule:
    def __init__(self, kernel, sizes, folder, core):
        words = ["taskset", "-c", str(core), sys.executable, HERE / "metaschedule.py", "time", kernel, sizes, folder]
        self.process = subprocess.Popen(list(map(str, words)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.found = self.answer()
        self.found["seconds"] = json.loads((folder / "seconds.json").read_text())

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"expected an answer, got the end of the process: {' '.join(map(str, self.process.args))}")
        return json.loads(line)

    def seconds(self):
        print(BATCHES, file=self.process.stdin, flush=True)
        return min(self.answer())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Ferry:
    def __init__(self, kernel, sizes, folder, core, options):
        self.core = core
        lines = run(FERRY, "tune", KERNELS, "--fn", kernel, "--size", sizes, "--threads", 1, "--budget", options.budget,
                    "--records", folder / "records.jsonl", "--json").splitlines()
        result = json.loads(lines[-1])
        self.found = {"trials": len(lines) - 1, "faster_than_default": result.get("ratio", 1.0)}
        point = ["--point", result["point"]] if result["is_faster"] else []
        self.words = [KERNELS, "--fn", kernel, "--fix", sizes, "--records", "none", *point]
        self.check(kernel, sizes_of(sizes), folder)

    def check(self, kernel, sizes, folder):
        inputs = inputs_of(kernel, sizes)
        given = []
        for name, value in inputs.items():
            np.save(folder / f"{name}.npy", value)
            given += ["--arg", f"{name}=@{folder / name}.npy"]
        out = folder / "result.npy"
        run(FERRY, "run", *self.words, *given, "--out", f"{RESULTS.get(kernel, 'Y')}=@{out}")
        expected = reference_of(kernel, sizes, inputs)
        self.found["error"] = float(np.abs(np.load(out) - expected).max() / np.abs(expected).max())

    def seconds(self):
        words = ["--threads", 1, "--no-peak", "--cores", self.core, "--number", 1, "--repeat", BATCHES, "--max-repeat", BATCHES,
                 "--min-repeat-ms", 1, "--warm", "--json"]
        return min(json.loads(run(FERRY, "bench", *self.words, *words))["results"][0]["seconds"])


def compare(kernel, sizes, options):
    folder = ROOT / "build/bench/tvm-tuned" / f"{kernel}-{sizes.replace(',', '-').replace('=', '')}"
    is_kept = options.keep and (folder / "seconds.json").exists()
    if not is_kept and not search_with_metaschedule(kernel, sizes, folder, options):
        return None
    core = max(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as scratch:
        ferry = Ferry(kernel, sizes, Path(scratch), core, options)
        peer = MetaSchedule(kernel, sizes, folder, core)
        rounds = []
        for number in range(options.rounds):
            sides = [ferry, peer] if number % 2 == 0 else [peer, ferry]
            times = {side: side.seconds() for side in sides}
            rounds.append((times[ferry], times[peer]))
        peer.end()
    ratios = sorted(theirs / own for own, theirs in rounds)
    return {"kernel": kernel, "sizes": sizes, "ferry": ferry.found, "metaschedule": peer.found,
            "ferry_seconds": min(own for own, _ in rounds), "metaschedule_seconds": min(theirs for _, theirs in rounds),
            "ratio": statistics.median(ratios), "ratios": ratios, "load": os.getloadavg()[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=300, help="of MetaSchedule's search")
    parser.add_argument("--trials", type=int, default=10000, help="of MetaSchedule at most")
    parser.add_argument("--batch", type=int, default=64, help="points that MetaSchedule measures before it learns from them")
    parser.add_argument("--budget", default="30s", help="of ferry tune")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--keep", action="store_true", help="what MetaSchedule has found before")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print("| kernel | MetaSchedule | ferry | MetaSchedule's time over ferry's | trials of MetaSchedule, ferry | load |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
    rows = []
    for kernel, sizes in CASES:
        if options.only not in f"{kernel} {sizes}":
            continue
        row = compare(kernel, sizes, options)
        if row is None:
            print(f"| {kernel} {sizes} | nothing in {options.seconds:.0f} s | | | | {os.getloadavg()[0]:.1f} |", flush=True)
            continue
        rows.append(row)
        print(f"| {kernel} {sizes} | {row['metaschedule_seconds'] * 1e6:.0f} us | {row['ferry_seconds'] * 1e6:.0f} us | "
              f"{row['ratio']:.2f} ({row['ratios'][0]:.2f} to {row['ratios'][-1]:.2f}) | "
              f"{row['metaschedule']['trials']} in {row['metaschedule']['seconds']:.0f} s, {row['ferry']['trials']} | "
              f"{row['load']:.1f} |", flush=True)
    if rows:
        print(f"\ngeometric mean {math.exp(statistics.mean(math.log(row['ratio']) for row in rows)):.2f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    wrong = [f"{row['kernel']} by {side}: {row[side]['error']:.2g}" for row in rows for side in ("ferry", "metaschedule")
             if not row[side]["error"] <= MAX_ERROR]
    if wrong:
        sys.exit("expected the results of NumPy, got other ones: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
