#!/usr/bin/env python3
"""Measures what tuning finds, how fast, and how far default schedules are from the best.

    bench/tune/quality.py [--only PART_OF_A_NAME]... [--budget 60s] [--threads 1] [--open] [--search-seed N]
        [--remote ADDRESS]... [--earlier FILE]... [--json FILE]

Runs `ferry tune` for each shape, without earlier records. Prints the trials a second (all that were compiled and run,
those included that were stopped early), the best ever found as a share of the default's time and of the best after 10 s,
60 s and in the end of the search, and the factor by which the best is faster than the default in `ferry compare`'s
comparison at the end. The best ever found is that of this run and of earlier ones on the same machine, whose --json
files --earlier names. Times of candidates are single measurements, so the best of many is often a lucky one; only the
last column is confirmed in processes of their own. A search takes about four fifths of the budget.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FERRY = HERE.parents[1] / "build/release/bin/ferry"
KERNELS = HERE / "kernels.tc"
MOMENTS = (10, 60, float("inf"))  # seconds
SHAPES = [
    ("product", "M=512,N=512,K=512"),
    ("product", "M=37,N=1000,K=509"),
    ("product", "M=1760,N=16,K=1760"),
    ("product", "M=128,N=768,K=768"),
    ("convolution", "C=64,O=64,S=56"),
    ("convolution", "C=256,O=256,S=14"),
    ("convolution", "C=512,O=512,S=7"),
    ("pointwise", "C=96,O=24,P=3136"),
    ("pointwise", "C=384,O=64,P=196"),
    ("depthwise", "C=512,S=14"),
    ("depthwise", "C=32,S=112"),
    ("softmax", "M=1024,N=1024"),
    ("layer_norm", "M=128,N=768"),
]


def tuned(function, sizes, options):
    """Returns the trials of one run, and its result."""
    with tempfile.TemporaryDirectory() as folder:
        words = [FERRY, "tune", KERNELS, "--fn", function, "--size", sizes, "--budget", options.budget, "--json",
                 "--records", f"{folder}/records.jsonl"]
        if options.threads:
            words += ["--threads", str(options.threads)]
        if options.open:
            words.append("--open")
        if options.search_seed is not None:
            words += ["--search-seed", str(options.search_seed)]
        for address in options.remote:
            words += ["--remote", address]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{function} {sizes}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return lines[:-1], lines[-1]


def best_after(trials, seconds):
    """Returns the least time among the trials until then; None before the first."""
    times = [trial["seconds"] for trial in trials
             if "seconds" in trial and trial["progress"]["elapsed_seconds"] <= seconds]
    return min(times) if times else None


def best_of_earlier(function, sizes, options):
    """Returns the least time of earlier runs."""
    rows = [row for file in options.earlier for row in json.loads(Path(file).read_text())["rows"]]
    times = [row["best_seconds"] for row in rows if (row["function"], row["sizes"]) == (function, sizes)]
    return min(times, default=float("inf"))


def row_of(function, sizes, options):
    trials, result = tuned(function, sizes, options)
    searched = trials[-1]["progress"]["elapsed_seconds"]
    best = best_after(trials, searched)
    ever = min(best, best_of_earlier(function, sizes, options))
    default = result["progress"].get("default_seconds")
    found = [best_after(trials, moment) for moment in MOMENTS if moment < searched or moment == MOMENTS[-1]]
    return {
        "function": function,
        "sizes": sizes,
        "points": result["progress"]["points"],
        "trials": len(trials),
        "searched_seconds": searched,
        "trials_per_second": len(trials) / searched,
        "failed": sum(trial["outcome"] in ("refused", "crashed", "hung", "wrong") for trial in trials),
        "default_seconds": default,
        "best_seconds": best,
        "default_share": ever / default if default else None,
        "shares": [ever / seconds if seconds else None for seconds in found[:-1]] + [ever / best],
        "faster": result.get("ratio", 1.0),
        "faster_interval": result.get("ratio_interval_99"),
        "point": result.get("point", "").strip().replace("\n", "; "),
    }


def shares_text(row):
    """Returns the columns after 10 s, after 60 s and in the end; a search that was shorter has none."""
    early = [f"{share:7.2f}" if share else " " * 7 for share in row["shares"][:-1]]
    return " ".join(early + [" " * 7] * (len(MOMENTS) - 1 - len(early)) + [f"{row['shares'][-1]:7.2f}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--search-seed", type=int)
    parser.add_argument("--remote", action="append", default=[])
    parser.add_argument("--earlier", action="append", default=[])
    parser.add_argument("--json")
    options = parser.parse_args()
    rows, product = [], 1.0
    print(f"{'kernel':32} {'points':>8} {'trials':>6} {'/s':>5} {'failed':>6} {'default':>9} {'share':>6} {'at 10 s':>7} "
          f"{'at 60 s':>7} {'at end':>7} {'faster':>6}  interval (99%)")
    for function, sizes in SHAPES:
        if options.only and not any(part in f"{function} {sizes}" for part in options.only):
            continue
        row = row_of(function, sizes, options)
        rows.append(row)
        product *= row["faster"]
        interval = row["faster_interval"]
        print(f"{function + ' ' + sizes:32} {row['points']:8} {row['trials']:6} {row['trials_per_second']:5.1f} "
              f"{row['failed']:6} {row['default_seconds'] * 1e6:7.0f}us {row['default_share']:6.2f} {shares_text(row)} "
              f"{row['faster']:6.2f}  {'[%.2f, %.2f]' % tuple(interval) if interval else 'the default is the best'}",
              flush=True)
    if rows:
        print(f"geometric mean {product ** (1 / len(rows)):.3f}")
    if options.json:
        Path(options.json).write_text(json.dumps({"budget": options.budget, "threads": options.threads,
                                                  "open": options.open, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
