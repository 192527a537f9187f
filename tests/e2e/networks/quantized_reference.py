"""What networks in ONNX's QDQ format compute by definition: dequantized values rounded to float32, the rest in float64."""
import numpy as np
from onnx import helper, numpy_helper


class Reference:
    """The groups of a network, each of which ends with bytes and begins with the bytes of others, or with the input x."""

    def __init__(self, model):
        self.model = model
        self.constants = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
        self.writers = {node.output[0]: node for node in model.graph.node}

    def readers(self, name):
        return [node for node in self.model.graph.node if name in node.input]

    def ends(self):
        """The bytes that end groups. A convolution's that are added to others at once stand inside of a group."""
        def is_inner(node):
            values = [reader.output[0] for reader in self.readers(node.output[0])]
            after = [reader.op_type for value in values for reader in self.readers(value)]
            return self.writers[node.input[0]].op_type == "Conv" and after == ["Add"]
        return [node.output[0] for node in self.model.graph.node if node.op_type == "QuantizeLinear"
                and node.input[0] not in self.constants and (node.input[0] == "x" or not is_inner(node))]

    def bytes_of(self, end, given):
        """The bytes that a group computes from given tensors, by name: x and the ends of other groups."""
        known = {name: value for name, value in given.items() if name != end}

        def value(name):
            if name in self.constants:
                return self.constants[name]
            if name not in known:
                node = self.writers[name]
                attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
                known[name] = OPERATORS[node.op_type](*[value(read) for read in node.input], **attributes)
            return known[name]
        return value(end)


def along(parameter, axis, rank):
    parameter = np.asarray(parameter)
    return parameter.reshape([-1 if d == axis else 1 for d in range(rank)]) if parameter.size > 1 else parameter.reshape(())


def dequantize(q, scale, zero=0, axis=1):
    zero = along(zero, axis, q.ndim).astype(np.int64)
    return ((q.astype(np.int64) - zero).astype(np.float32) * along(scale, axis, q.ndim)).astype(np.float64)


def quantize(x, scale, zero):
    limits = np.iinfo(zero.dtype)
    return np.clip(np.rint(x.astype(np.float64) / np.float64(scale)) + int(zero), limits.min, limits.max).astype(zero.dtype)


def windows(x, kernel_shape, strides, pads, padding):
    padded = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])], constant_values=padding)
    seen = np.lib.stride_tricks.sliding_window_view(padded, kernel_shape, axis=(2, 3))
    return seen[:, :, ::strides[0], ::strides[1]]


def conv(x, w, b, kernel_shape, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1), group=1):
    assert group == 1 and tuple(dilations) == (1, 1)
    sums = np.tensordot(windows(x, kernel_shape, strides, pads, 0), w, ([1, 4, 5], [1, 2, 3]))
    return sums.transpose(0, 3, 1, 2) + b.reshape(-1, 1, 1)


OPERATORS = {
    "DequantizeLinear": dequantize,
    "QuantizeLinear": quantize,
    "Conv": conv,
    "Gemm": lambda a, b, c, transB: a @ b.T + c,
    "Add": np.add,
    "Relu": lambda x: np.maximum(x, 0),
    "MaxPool": lambda x, kernel_shape, strides, pads, ceil_mode: windows(x, kernel_shape, strides, pads, -np.inf).max((4, 5)),
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdims=True),
    "Flatten": lambda x, axis: x.reshape(len(x), -1),
}
