"""The networks that ONNX's Python package stores as files: small ones of PyTorch's layers, and nine large ones of which the weights
are made by nodes."""
import collections
from pathlib import Path

import numpy as np
import onnx
import onnx.backend.test

DATA = Path(onnx.backend.test.__file__).parent / "data"
Case = collections.namedtuple("Case", "name model data_sets")


def read(path, info):
    """A tensor of a file, or what NumPy has no type for."""
    tensor = onnx.TensorProto.FromString(path.read_bytes())
    return tensor if info.type.HasField("tensor_type") else None


def small_cases(family):
    """The cases of a folder: "simple", "pytorch-converted" or "pytorch-operator"."""
    for folder in sorted((DATA / family).iterdir()):
        model = onnx.load(folder / "model.onnx")
        data = folder / "test_data_set_0"
        values = [[read(data / f"{kind}_{number}.pb", info) for number, info in enumerate(infos)
                   if (data / f"{kind}_{number}.pb").exists()]
                  for kind, infos in (("input", model.graph.input), ("output", model.graph.output))]
        yield Case(folder.name, model, [values])


def light_cases():
    """The large networks: their inputs are ramps from 0 to 1."""
    for path in sorted((DATA / "light").glob("*.onnx")):
        model = onnx.load(path)
        weights = {tensor.name for tensor in model.graph.initializer}
        inputs = []
        for info in model.graph.input:
            if info.name not in weights:
                shape = [dim.dim_value or 1 for dim in info.type.tensor_type.shape.dim]
                inputs.append((np.arange(np.prod(shape)).reshape(shape) / np.prod(shape)).astype(np.float32))
        outputs = [read(path.with_name(f"{path.stem}_output_{number}.pb"), info)
                   for number, info in enumerate(model.graph.output)]
        yield Case(path.stem, model, [[inputs, outputs]])
