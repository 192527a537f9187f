#!/usr/bin/env python3
"""Exports the modules of idioms.py with both of PyTorch's exporters and compares ferry's results with ONNX Runtime's.

    build/bench/networks/bin/python bench/networks/run_idioms.py [--only NAME]... [--exporter script|dynamo]... [--json FILE]

Batch and length are open. Each file is compiled once, and its module called with three sizes. It needs onnxscript beside what
scripts/bench_setup.sh installs. Prints what fails and why, and how many modules run with each exporter.
"""
import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from idioms import IDIOMS, Function

# Its fused kernels have no ONNX operators.
torch.backends.mha.set_fastpath_enabled(False)
ROOT = Path(__file__).resolve().parents[2]
FERRY = ROOT / "build/release/bin/ferry"
EXPORTED, SIZES = (2, 8), [(1, 4), (3, 10), (5, 26)]
MAX_ERROR = 2e-4
EXPORTERS = ["script", "dynamo"]


def export(file: Path, name: str, exporter: str) -> None:
    make, inputs_of, opens = IDIOMS[name]
    torch.manual_seed(0)
    module, inputs = make().eval(), inputs_of(*EXPORTED)
    dynamic = tuple({d: torch.export.Dim.DYNAMIC for d in dims} for dims in opens.values())
    options = {"dynamo": False, "dynamic_axes": opens} if exporter == "script" else {
        "dynamo": True, "external_data": False, "verbose": False,
        # A function takes its tensors as one argument.
        "dynamic_shapes": (dynamic,) if isinstance(module, Function) else dynamic}
    with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), \
            contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(module, tuple(inputs.values()), str(file), input_names=list(inputs), output_names=["y"],
                          opset_version=20, **options)


def first_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[0] if lines else "no message"


def mistake(folder: Path, name: str, exporter: str) -> str:
    """Returns what is wrong; empty if nothing is."""
    file, module = folder / f"{name}.onnx", folder / f"{name}.ferry"
    try:
        export(file, name, exporter)
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    except Exception as error:  # whatever the exporter raises
        return f"not exported: {first_line(str(error))}"
    done = subprocess.run([FERRY, "compile", file, "-o", module], capture_output=True, text=True)
    if done.returncode != 0:
        return f"refused: {first_line(done.stderr)}"
    for size in SIZES:
        torch.manual_seed(size[1])
        inputs = {one: values.numpy() for one, values in IDIOMS[name][1](*size).items()}
        given = []
        for one, values in inputs.items():
            np.save(folder / f"{one}.npy", values)
            given += ["--arg", f"{one}=@{folder / one}.npy"]
        try:
            expected = session.run(None, {one.name: inputs[one.name] for one in session.get_inputs()})[0]
        except Exception as error:
            return f"ONNX Runtime fails at {size}: {first_line(str(error))}"
        done = subprocess.run([FERRY, "run", module, *given, "--out", f"y=@{folder / 'y.npy'}"], capture_output=True, text=True)
        if done.returncode != 0:
            return f"at {size}: {first_line(done.stderr)}"
        found = np.load(folder / "y.npy")
        if found.shape != expected.shape:
            return f"at {size}: shape {found.shape} instead of {expected.shape}"
        error = np.abs(found.astype(np.float64) - expected).max() / max(np.abs(expected).max(), 1e-30) if found.size else 0
        if not error <= MAX_ERROR:
            return f"at {size}: differs by {error:.2g}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=IDIOMS, help="this module alone")
    parser.add_argument("--exporter", action="append", choices=EXPORTERS, help="default: both")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for exporter in options.exporter or EXPORTERS:
            for name in options.only or IDIOMS:
                found[f"{name}, {exporter}"] = wrong = mistake(Path(folder), name, exporter)
                if wrong:
                    print(f"{name}, {exporter}: {wrong}", flush=True)
            mine = [wrong for key, wrong in found.items() if key.endswith(f", {exporter}")]
            print(f"{exporter}: {mine.count('')} of {len(mine)} run", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if not any(found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
