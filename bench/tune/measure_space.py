#!/usr/bin/env python3
"""Measures every point of a part of a kernel's space once, as test data for searches and for the cost model.

    bench/tune/measure_space.py [--only PART_OF_A_NAME] [--again] [--points 400] [--seconds 120] [--folder FOLDER]

The part of the space is a product: of the knob with the most candidates one is dropped at a time, drawn by a fixed seed
but never the default, until no more than --points are left. KNOBS_KEPT_AT_DEFAULT names knobs that keep their defaults.
`ferry tune` measures the points, one thread, sizes fixed in the code, in an order that is drawn, so that a slower minute
of the machine does not fall on neighbours. Points that it stops because they are far slower than the best are written
with the time of their first calls. With --again a file keeps the shorter of a point's times, as other work on the
machine only makes them longer.

A file has a line of JSON with the kernel, the machine and the knobs, and then a line for each point: the number of the
candidate of each knob, and seconds. `~` stands before the time of a first look, `-` for a point that failed.
"""
import argparse
import datetime
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KERNELS = HERE / "kernels.tc"
SPACES = {
    "product": ("product", "M=512,N=512,K=512"),
    "thin_product": ("product", "M=1760,N=16,K=1760"),
    "odd_product": ("product", "M=37,N=1000,K=509"),
    "convolution": ("convolution", "C=64,O=64,S=56"),
    "small_convolution": ("convolution", "C=512,O=512,S=7"),
    "pointwise": ("pointwise", "C=96,O=24,P=3136"),
    "depthwise": ("depthwise", "C=32,S=112"),
    "small_depthwise": ("depthwise", "C=512,S=14"),
    "softmax": ("softmax", "M=1024,N=1024"),
    "layer_norm": ("layer_norm", "M=128,N=768"),
}
# With other numbers of fused axes the remaining knobs are others; one thread leaves nothing to choose of the last two.
KNOBS_KEPT_AT_DEFAULT = {"axes", "parallel", "loops"}
SEED = 7


def part_of(knobs, most):
    """Returns the knobs with fewer candidates, so that their product is no larger than `most`."""
    draw = random.Random(SEED)
    part = [dict(knob, candidates=list(knob["candidates"])) for knob in knobs]
    for knob in part:
        if knob["name"].rpartition(".")[2] in KNOBS_KEPT_AT_DEFAULT:
            knob["candidates"] = [knob["default"]]

    def size():
        product = 1
        for knob in part:
            product *= len(knob["candidates"])
        return product

    while size() > most:
        largest = max(part, key=lambda knob: len(knob["candidates"]))
        others = [value for value in largest["candidates"] if value != largest["default"]]
        largest["candidates"].remove(draw.choice(others))
    return part


def points_of(knobs):
    points = [()]
    for knob in knobs:
        points = [point + (i,) for point in points for i in range(len(knob["candidates"]))]
    return points


def ask(most, names):
    """Is the searcher of `ferry tune`: asks for all points of the part, and writes which they are to a file."""
    start = json.loads(sys.stdin.readline())
    knobs = part_of(start["space"]["knobs"], most)
    points = points_of(knobs)
    random.Random(SEED).shuffle(points)
    Path(names).write_text(json.dumps({"points": start["space"]["points"], "knobs": knobs}))
    sys.stdin.readline()  # the default's time
    for first in range(0, len(points), 256):
        asked = [{knob["name"]: knob["candidates"][i] for knob, i in zip(knobs, point)}
                 for point in points[first:first + 256]]
        print(json.dumps({"points": asked}), flush=True)
    for _ in points:
        if not sys.stdin.readline():
            break


def values_of(text):
    """Reads "C: tile=4x2, order=rows" into {"C.tile": "4x2", ...}."""
    values = {}
    for line in re.split(r"[;\n]", text):
        stage, _, rest = line.strip().partition(": ")
        for item in filter(None, rest.split(", ")):
            knob, _, value = item.partition("=")
            values[f"{stage}.{knob}"] = value
    return values


def measure(function, sizes, options):
    with tempfile.TemporaryDirectory() as folder:
        names, records = Path(folder) / "space.json", Path(folder) / "records.jsonl"
        searcher = f"'{sys.executable}' '{Path(__file__).resolve()}' --ask {names} --points {options.points}"
        words = [options.ferry, "tune", KERNELS, "--fn", function, "--size", sizes, "--threads", "1", "--processes", "0",
                 "--budget", f"{options.seconds}s", "--records", records, "--json", "--searcher", searcher]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{function} {sizes}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        trials = [json.loads(line) for line in done.stdout.splitlines()][:-1]
        lines = [json.loads(line) for line in records.read_text().splitlines()]
        space = json.loads(names.read_text())
    return space, trials, lines


def seconds_of(trial, record):
    """Returns the text of a time."""
    if "seconds" in trial:
        return f"{record['seconds']:.4g}"
    slower = re.search(r"took ([\d.,]+) times", trial.get("reason", ""))
    if trial["outcome"] == "too_slow" and slower:
        return f"~{float(slower[1].replace(',', '')) * trial['progress']['best_seconds']:.3g}"
    return "-"


def earlier_times(path, knobs):
    """Returns the times that a file has of the same part of the space, by point."""
    if not path.exists():
        return {}
    first, *lines = path.read_text().splitlines()
    if [knob["candidates"] for knob in json.loads(first)["knobs"]] != [knob["candidates"] for knob in knobs]:
        sys.exit(f"{path}: expected the same knobs; --again only repeats what was measured")
    return {tuple(map(int, words[:-1])): words[-1] for words in map(str.split, lines)}


def shorter(a, b):
    return min(a, b, key=lambda text: float("inf") if text == "-" else float(text.lstrip("~")))


def write(name, function, sizes, space, trials, records, options):
    knobs = space["knobs"]
    path = options.folder / f"{name}.space"
    times = earlier_times(path, knobs) if options.again else {}
    for trial, record in zip(trials, records):
        values = values_of(trial["point"])
        numbers = []
        for knob in knobs:
            value = values.get(knob["name"])
            numbers.append(knob["candidates"].index(value) if value in knob["candidates"] else None)
        if len(values) == len(knobs) and None not in numbers:
            text = seconds_of(trial, record)
            times[tuple(numbers)] = shorter(times.get(tuple(numbers), text), text)
    first = records[0]
    header = {"schema": "ferry.space/1", "function": function,
              "sizes": {size: int(value) for size, value in (part.split("=") for part in sizes.split(","))},
              "points": space["points"], "arch": first["arch"], "cpu": first.get("cpu"),
              "l1_bytes": first.get("l1_bytes"), "l2_bytes": first.get("l2_bytes"), "threads": 1,
              "machine": first.get("environment", {}).get("processor"), "date": str(datetime.date.today()),
              "knobs": [{"name": knob["name"], "candidates": knob["candidates"],
                         "default": knob["candidates"].index(knob["default"]), "is_ordered": knob["is_ordered"]}
                        for knob in knobs]}
    lines = [json.dumps(header)]
    lines += [" ".join(map(str, point)) + " " + times[point] for point in points_of(knobs) if point in times]
    path.write_text("\n".join(lines) + "\n")
    measured = sum(not text.startswith(("~", "-")) for text in times.values())
    print(f"{name:20} {space['points']:8} points, {len(times)} of {len(points_of(knobs))} measured, {measured} fully")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--again", action="store_true", help="keep the shorter of the file's time and the new one")
    parser.add_argument("--points", type=int, default=400)
    parser.add_argument("--seconds", type=int, default=120, help="for each kernel")
    parser.add_argument("--folder", type=Path, default=ROOT / "tests/unit/host/tune/spaces")
    parser.add_argument("--ferry", type=Path, default=ROOT / "build/release/bin/ferry")
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        return ask(options.points, options.ask)
    for name, (function, sizes) in SPACES.items():
        if options.only in name:
            write(name, function, sizes, *measure(function, sizes, options), options)


if __name__ == "__main__":
    main()
