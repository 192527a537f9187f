#!/usr/bin/env python3
"""Measures what tuning finds, how fast, and how far default schedules are from the best.

    bench/tune/quality.py [--only PART_OF_A_NAME] [--budget 60s] [--threads 1] [--open] [--remote ADDRESS] [--json FILE]

Runs `ferry tune` for each shape, without earlier records. Prints the trials a second (all that were compiled and run,
those included that were stopped early), the factor by which the best is faster than the default in `ferry compare`'s
comparison at the end, and which share of that was found after 10 s. Times of candidates are single measurements; only
the last column is confirmed in processes of their own.
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
EARLY_SECONDS = 10
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


def row_of(function, sizes, options):
    trials, result = tuned(function, sizes, options)
    searched = trials[-1]["progress"]["elapsed_seconds"]
    final, early = best_after(trials, searched), best_after(trials, EARLY_SECONDS)
    return {
        "function": function,
        "sizes": sizes,
        "points": result["progress"]["points"],
        "trials": len(trials),
        "trials_per_second": len(trials) / searched,
        "failed": sum(trial["outcome"] in ("refused", "crashed", "hung", "wrong") for trial in trials),
        "default_seconds": result["progress"].get("default_seconds"),
        "share_after_10_s": final / early if early else None,
        "faster": result.get("ratio", 1.0),
        "faster_interval": result.get("ratio_interval_99"),
        "point": result.get("point", "").strip().replace("\n", "; "),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--remote", action="append", default=[])
    parser.add_argument("--json")
    options = parser.parse_args()
    rows, product = [], 1.0
    print(f"{'kernel':46} {'points':>8} {'trials':>6} {'/s':>5} {'failed':>6} {'default':>9} {'at 10 s':>7} "
          f"{'faster':>6}  interval (99%)")
    for function, sizes in SHAPES:
        if options.only not in f"{function} {sizes}":
            continue
        row = row_of(function, sizes, options)
        rows.append(row)
        product *= row["faster"]
        interval = row["faster_interval"]
        print(f"{function + ' ' + sizes:46} {row['points']:8} {row['trials']:6} {row['trials_per_second']:5.1f} "
              f"{row['failed']:6} {row['default_seconds'] * 1e6:7.0f}us {row['share_after_10_s'] or 0:7.2f} "
              f"{row['faster']:6.2f}  {'[%.2f, %.2f]' % tuple(interval) if interval else 'the default is the best'}",
              flush=True)
    if rows:
        print(f"geometric mean {product ** (1 / len(rows)):.3f}")
    if options.json:
        Path(options.json).write_text(json.dumps({"budget": options.budget, "threads": options.threads,
                                                  "open": options.open, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
