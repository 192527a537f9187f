"""ONNX's own tests of single operators: small networks with inputs and the outputs that ONNX defines."""
import random
import re
import warnings

import numpy as np
import onnx
from onnx.backend.test.case.node import collect_testcases

# Cases whose results are nearer to the exact ones than what ONNX expects, which rounds each step to the narrow type, but
# not within the tolerance of that. They count as different, and have these relative tolerances.
DIFFERENT_REASON = "expanded cases that round each step to the narrow type"
DIFFERENT = {"test_attention_4d_causal_bf16_expanded": 1.5e-2, "test_attention_4d_causal_fp16_expanded": 1.5e-3}
RELATIVE_TOLERANCES = {"bfloat16": 1e-2, "float16": 1e-3, "float32": 1e-4, "float64": 1e-6}
# Cases that write what they expect with four digits after the point.
WITH_FEW_DIGITS = {"test_averagepool_2d_ceil_last_window_starts_on_pad", "test_gridsample_bicubic"}
ARRAY_TYPES = {
    onnx.TensorProto.DataType.Value(name)
    for name in "FLOAT DOUBLE FLOAT16 BFLOAT16 INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 BOOL".split()
}


def is_array(value):
    return isinstance(value, (np.ndarray, np.generic)) and np.asarray(value).dtype.kind in "biuf" or str(
        getattr(value, "dtype", "")) == "bfloat16"


def arrays_of(values):
    """Returns the values with tensors of ONNX as arrays, where NumPy has their type."""
    return [
        onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) and value.data_type in ARRAY_TYPES else value
        for value in values
    ]


def kind_of(value):
    """Says what a value is that is no tensor which NumPy can save."""
    if isinstance(value, onnx.TensorProto):
        return onnx.TensorProto.DataType.Name(value.data_type).lower()
    if value is None or isinstance(value, list):
        return "a sequence or optional value"
    return "strings" if value.dtype.kind in "OSU" else str(value.dtype)


def save(case, folder):
    """Writes a case as EVALUATE reads it. Returns what its inputs or outputs are, if some are no tensors."""
    inputs, outputs = (arrays_of(values) for values in case.data_sets[0])
    others = {kind_of(value) for value in [*inputs, *outputs] if not is_array(value)}
    if others:
        return ", ".join(sorted(others))
    folder.mkdir()
    onnx.save(case.model, folder / "net.onnx")
    for number, value in enumerate(inputs):
        np.save(folder / f"in{number}.npy", np.asarray(value))
    return None


def load(path, dtype):
    values = np.load(path)
    return values.view(dtype) if values.dtype.kind == "V" else values


def difference(case, folder, at_least=0):
    """Returns what differs between an output and what is expected, or nothing. `at_least` widens the tolerance."""
    at_least = max(at_least, 1e-3 if case.name in WITH_FEW_DIGITS else 0)
    for number, expected in enumerate(arrays_of(case.data_sets[0][1])):
        expected = np.asarray(expected)
        got = load(folder / f"out{number}.npy", expected.dtype)
        if got.shape != expected.shape or got.dtype != expected.dtype:
            return f"{got.dtype}{got.shape} instead of {expected.dtype}{expected.shape}"
        rtol = max(RELATIVE_TOLERANCES.get(str(expected.dtype), 0), at_least)
        atol = 1e-12 if expected.dtype == np.float64 else 1e-6
        a, b = (value.astype(np.float64) if value.dtype.kind not in "iub" else value for value in (got, expected))
        if not np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return f"{a.ravel()[:4]} instead of {b.ravel()[:4]}"
    return None


def all_cases():
    warnings.simplefilter("ignore")
    return [case for case in collect_testcases(None) if case.model is not None and case.data_sets]


def sample(cases):
    """A tenth of the cases, the same in every run."""
    return random.Random(1).sample(cases, len(cases) // 10)


def operators_by_case(cases):
    """Returns the operator that each case is about by its name. An expanded one has the nodes that define it instead."""
    def own(case):
        nodes = [node for node in case.model.graph.node if node.op_type != "Constant"] or case.model.graph.node
        return ".".join(filter(None, [nodes[0].domain, nodes[0].op_type]))

    operators = {case.name: own(case) for case in cases}
    for name in operators:
        plain = re.sub(r"_expanded(_ver\d+)?$", "", name)
        operators[name] = operators.get(plain, operators[name])
    return operators
