"""A random network while it is made: its nodes, its weights, and the values that further nodes may use."""
import random

import numpy as np
import onnx
from onnx import helper, numpy_helper

MAX_ELEMENTS = 20_000


class Open(int):
    """A dimension that the model leaves open, with its size in the first call."""


class Value:
    def __init__(self, name, shape, dtype=np.float32):
        self.name, self.shape, self.dtype = name, tuple(shape), np.dtype(dtype)

    @property
    def rank(self):
        return len(self.shape)

    def is_float(self):
        return self.dtype == np.float32

    def is_fixed(self, axis):
        return not isinstance(self.shape[axis], Open)

    def fixed_axes(self, least=1):
        return [axis for axis in range(self.rank) if self.is_fixed(axis) and self.shape[axis] >= least]

    def fixed_sizes(self):
        return [self.shape[axis] for axis in self.fixed_axes()]

    def is_image(self, least=1):
        """Batch, channels, and one to three spatial dimensions, of which only the batch may be open."""
        return self.is_float() and 3 <= self.rank <= 5 and len(self.fixed_axes()) >= self.rank - 1 and all(
            self.is_fixed(axis) and self.shape[axis] >= least for axis in range(2, self.rank)) and self.is_fixed(1)


class Unsuitable(Exception):
    """No value at hand suits the operator that was drawn."""


class Net:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        self.opset = self.random.choice([11, 13, 15, 17, 18, 19, 20, 21, 22])
        self.batch = Open(self.random.randint(1, 4)) if self.random.random() < 0.5 else None
        self.nodes, self.weights, self.inputs, self.values = [], [], [], []
        self.names = 0
        self.is_quantized = False
        self.opens_space = False

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, *choices):
        return self.random.choice(choices)

    def fresh(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def input(self, shape, dtype=np.float32):
        value = Value(self.fresh("x"), shape, dtype)
        self.inputs.append(value)
        self.values.append(value)
        return value

    def weight(self, *shape, scale=None, positive=False):
        """Floats whose exact values do not matter: they take part when conditions are estimated."""
        scale = np.sqrt(1 / max(1, np.prod(shape[1:]))) if scale is None else scale
        values = self.numpy.standard_normal(shape, np.float32) * np.float32(scale)
        return self.stored("w", np.abs(values) + np.float32(0.5) if positive else values)

    def constant(self, values, dtype):
        return self.stored("c", np.array(values, dtype))

    def integers(self, values):
        return self.constant(values, np.int64)

    def stored(self, prefix, array):
        array = np.asarray(array)
        self.weights.append((self.fresh(prefix), array))
        return Value(self.weights[-1][0], array.shape, array.dtype)

    def add(self, op, inputs, shape, dtype=np.float32, **attributes):
        """Appends a node with one output, which is returned."""
        return self.add_all(op, inputs, [(shape, dtype)], **attributes)[0]

    def add_all(self, op, inputs, types, **attributes):
        if any(np.prod(shape, dtype=np.int64) > MAX_ELEMENTS for shape, _ in types):
            raise Unsuitable
        outputs = [Value(self.fresh("t"), shape, dtype) for shape, dtype in types]
        names = ["" if value is None else value.name for value in inputs]
        self.nodes.append(helper.make_node(op, names, [value.name for value in outputs], name=self.fresh("/" + op + "_"),
                                           **attributes))
        self.values += outputs
        return outputs

    def any(self, suits=Value.is_float):
        """A value that suits, one of the latest rather than one of the first."""
        suitable = [value for value in self.values if suits(value)]
        if not suitable:
            raise Unsuitable
        recent = suitable[-3:]
        return self.random.choice(recent if self.chance(0.6) else suitable)

    def positive(self, x):
        """Something of the value above 0.5."""
        return self.add("Add", [self.add("Abs", [x], x.shape), self.constant(0.5, np.float32)], x.shape)

    def shape_of(self, value):
        """The dimensions of an input as the file has them."""
        shape = self.shape_of_dimensions(value.shape)
        return shape[:2] + [f"S{size}" if self.is_open_space(size) else size for size in shape[2:]]

    def is_open_space(self, size):
        """Whether a dimension after the first two is open. Equal sizes are one size, which other calls may have greater."""
        return self.opens_space and size > 1

    def shape_of_dimensions(self, shape):
        return [("N" if size is self.batch else "M") if isinstance(size, Open) else size for size in shape]

    def model(self, outputs):
        infos = [helper.make_tensor_value_info(value.name, helper.np_dtype_to_tensor_dtype(value.dtype),
                                               self.shape_of(value)) for value in self.inputs]
        graph = helper.make_graph(self.nodes, "net", infos,
                                  [helper.make_empty_tensor_value_info(value.name) for value in outputs],
                                  [numpy_helper.from_array(array, name) for name, array in self.weights])
        return onnx.helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
