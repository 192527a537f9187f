"""Accuracy and times of the kernels of ONNX's own tests, by operator, beside ONNX Runtime."""
import collections
import datetime
import re
import textwrap
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from node_cases import WITH_FEW_DIGITS, arrays_of, load, operators_by_case

# Digits of the types of floats after the first one. Elements below this fraction of a tensor's largest count as that large:
# the roundings of a sum do not shrink with its result.
DIGITS = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}
SMALL = 2.0**-10
TEXT = """
`node_cases_long_test.py` (`--long`) compiles the cases for x86_64 and runs them in one process on one server, a tenth of them,
the same in every run, for aarch64, armv7 and riscv64 in emulators, and as exported libraries. This table is what
`node_cases_long_test.py RUN_NETWORKS FERRY --update` measured for x86_64 on {date}, on one thread of an {processor}, with the
cases of ONNX {onnx} and with ONNX Runtime {runtime}: the largest error over all elements in units in the last place (elements
below 1/1024 of a tensor's largest count as that large; integers must be equal), and times of the cases that ONNX Runtime
computes too, each the fastest of ten calls, summed. The two columns of times do not measure the same and are no comparison:
"kernels" is the time that the server measures around the steps of a call, without the request, and "ONNX Runtime call" that of a
whole `session.run()` in Python.
"""


def processor():
    """The processor's name, as Linux tells it."""
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return found[1].strip() if found else "unknown processor"


def largest_ulps(got, expected):
    digits = DIGITS.get(str(expected.dtype))
    if digits is None or expected.size == 0:
        return 0
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        same = (got == expected) | (np.isnan(got) & np.isnan(expected))
        size = np.abs(expected)
        largest = np.max(size[np.isfinite(size)], initial=0)
        ulp = 2.0**(np.floor(np.log2(np.maximum(np.maximum(size, largest * SMALL), 2.0**-126))) - digits)
        return np.max(np.where(same, 0, np.abs(got - expected) / ulp))


def peer_ns(case):
    """The fastest of ten calls of ONNX Runtime, or nothing if it cannot."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = ort.InferenceSession(case.model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        names = [info.name for info in session.get_inputs()]
        feeds = dict(zip(names, map(np.asarray, arrays_of(case.data_sets[0][0]))))
        times = []
        for _ in range(10):
            start = time.perf_counter_ns()
            session.run(None, feeds)
            times.append(time.perf_counter_ns() - start)
        return min(times)
    except Exception:  # of types of its own for each thing that it does not support
        return None


class Figures:
    def __init__(self, cases):
        self.operators = operators_by_case(cases)
        self.cases, self.ulps = collections.Counter(), collections.Counter()
        self.ours, self.peers = collections.Counter(), collections.Counter()

    def add(self, case, folder, nanoseconds):
        operator = self.operators[case.name]
        self.cases[operator] += 1
        peer = peer_ns(case)
        if peer is not None:
            self.ours[operator] += nanoseconds
            self.peers[operator] += peer
        if case.name in WITH_FEW_DIGITS:
            return
        for number, expected in enumerate(map(np.asarray, arrays_of(case.data_sets[0][1]))):
            got = load(folder / f"out{number}.npy", expected.dtype)
            self.ulps[operator] = max(self.ulps[operator], largest_ulps(got, expected))

    def text(self):
        text = TEXT.format(date=datetime.date.today(), processor=processor(), onnx=onnx.__version__, runtime=ort.__version__)
        lines = ["", *textwrap.wrap(" ".join(text.split()), 118), "",
                 "| operator | cases | largest error, ulp | kernels, us | ONNX Runtime call, us |", "| --- | --- | --- | --- | --- |"]
        for operator in sorted(self.cases):
            ulps, peer = self.ulps[operator], self.peers[operator]
            times = f"{self.ours[operator] / 1000:.1f} | {peer / 1000:.1f}" if peer else " | "
            lines.append(f"| {operator} | {self.cases[operator]} | {f'{ulps:.2g}' if ulps else ''} | {times} |")
        return "\n".join(lines) + "\n"
