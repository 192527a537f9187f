#!/usr/bin/env python3
"""Compares two builds of ferry by what their searches find after some seconds.

    bench/tune/compare_searches.py FERRY_A FERRY_B [--only PART_OF_A_NAME] [--seconds 3,10,60] [--seeds 2] [--json FILE]

Runs `ferry tune` of both builds in turns, for each kernel of quality.py and each seed, without earlier records and
without the comparison in the end. Prints for each build the best time after so many seconds in microseconds, the number
of trials until then, and the geometric mean of B's time over A's with its 95% interval over all runs. Times are single
measurements: the best of many is often a lucky one, in both builds, and on a shared machine runs differ.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from quality import KERNELS, SHAPES


def trials_of(ferry, function, sizes, seconds, seed):
    """Returns (elapsed, time or None) of each trial, and the default's time."""
    with tempfile.TemporaryDirectory() as folder:
        words = [ferry, "tune", KERNELS, "--fn", function, "--size", sizes, "--budget", f"{seconds:g}s", "--threads", 1,
                 "--processes", 0, "--search-seed", seed, "--json", "--records", f"{folder}/records.jsonl"]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=dict(os.environ))
    if done.returncode != 0:
        sys.exit(f"{ferry}: {function} {sizes}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    trials = [(line["progress"]["elapsed_seconds"], line.get("seconds")) for line in lines[:-1]]
    return trials, lines[-1]["progress"]["default_seconds"]


def best_after(trials, default, seconds):
    """Returns the best time until then, at most the default's, and the number of trials."""
    until = [time for elapsed, time in trials if elapsed <= seconds]
    return min([time for time in until if time] + [default]), len(until)


def interval(logs):
    """Returns the geometric mean of ratios, whose logarithms these are, with its 95% interval by Student's t."""
    mean = statistics.mean(logs)
    if len(logs) < 2:
        return math.exp(mean), 0.0, math.inf
    quantiles = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 8: 2.36, 10: 2.26, 20: 2.09, 30: 2.05}
    quantile = next((value for count, value in sorted(quantiles.items()) if len(logs) <= count), 2.0)
    half = quantile * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs=2, metavar="FERRY")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", default="3,10")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--json")
    options = parser.parse_args()
    ends = [float(word) for word in options.seconds.split(",")]
    ratios = {end: [] for end in ends}  # logarithms
    counts = {end: [0, 0] for end in ends}
    rows = []
    for function, sizes in SHAPES:
        if options.only not in f"{function} {sizes}":
            continue
        for seed in range(options.seeds):
            order = [0, 1] if len(rows) % 2 == 0 else [1, 0]
            runs = {build: trials_of(options.builds[build], function, sizes, max(ends), seed) for build in order}
            row = {"function": function, "sizes": sizes, "seed": seed}
            text = f"{function + ' ' + sizes:34} {seed}"
            for end in ends:
                found = [best_after(*runs[build], end) for build in (0, 1)]
                ratios[end].append(math.log(found[1][0] / found[0][0]))
                for build, (_, count) in enumerate(found):
                    counts[end][build] += count
                row[f"after_{end:g}_s"] = found
                text += f"   {end:g} s:" + "".join(f" {time * 1e6:6.0f} ({count})" for time, count in found)
            rows.append(row)
            print(text, flush=True)
    for end in ends if rows else []:
        ratio, low, high = interval(ratios[end])
        print(f"after {end:g} s: {counts[end][0]} and {counts[end][1]} trials, ratio of times {ratio:.3f} "
              f"[{low:.3f}, {high:.3f}]")
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
