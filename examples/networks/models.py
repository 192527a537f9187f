#!/usr/bin/env python3
"""Networks in ONNX's format, as exporters write them, with seeded weights: torchvision's and a transformer encoder.

    build/venv/bin/python examples/networks/models.py NAME FILE [IMAGE_SIZE]

The names are those of the list NETWORKS. The files serve tests and trials: random weights recognise nothing.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Network:
    """Collects the nodes and weights of a graph. Methods return the name of the tensor that they compute."""

    def __init__(self, name, shape, opset, seed=0):
        self.name, self.opset = name, opset
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights = [], []
        self.inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]

    def node(self, op, *inputs, outputs=1, **attributes):
        names = [f"{op.lower()}_{len(self.nodes)}" + (f"_{i}" if outputs > 1 else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"/{op}_{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, values, dtype=None):
        self.weights.append(numpy_helper.from_array(np.array(values, dtype), f"const_{len(self.weights)}"))
        return self.weights[-1].name

    def weight(self, *shape, scale=None, positive=False):
        """Normally distributed, so that the values in the network neither grow nor shrink much."""
        if scale is None:
            scale = np.sqrt(2 / max(1, np.prod(shape[1:])))
        values = self.random.standard_normal(shape, np.float32) * np.float32(scale)
        return self.constant(np.abs(values) + np.float32(0.5) if positive else values, np.float32)

    def conv(self, x, inputs, outputs, kernel, stride=1, padding=0, groups=1):
        w, b = self.weight(outputs, inputs // groups, kernel, kernel), self.weight(outputs, scale=0.1)
        return self.node("Conv", x, w, b, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[padding] * 4,
                         dilations=[1, 1], group=groups)

    def batch_norm(self, x, channels):
        scale, variance = self.weight(channels, scale=0.1, positive=True), self.weight(channels, scale=0.1, positive=True)
        return self.node("BatchNormalization", x, scale, self.weight(channels, scale=0.1),
                         self.weight(channels, scale=0.1), variance, epsilon=1e-5, momentum=0.9)

    def max_pool(self, x, kernel, stride, padding=0, ceil=0):
        return self.node("MaxPool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[padding] * 4, ceil_mode=ceil)

    def relu(self, x):
        return self.node("Relu", x)

    def linear(self, x, inputs, outputs):
        return self.node("Gemm", x, self.weight(outputs, inputs), self.weight(outputs, scale=0.1), transB=1)

    def model(self, output):
        """The network with this tensor as its output, called y."""
        for node in self.nodes:
            for names in (node.input, node.output):
                names[:] = ["y" if name == output else name for name in names]
        output = "y"
        y = helper.make_empty_tensor_value_info(output)
        graph = helper.make_graph(self.nodes, self.name, self.inputs, [y], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)


def resnet18(size=224, classes=1000):
    """With its batch normalisations, and a view of the last features by the batch's size."""
    net = Network("resnet18", ["batch", 3, size, size], opset=13)

    def block(x, inputs, outputs, stride):
        y = net.relu(net.batch_norm(net.conv(x, inputs, outputs, 3, stride, 1), outputs))
        y = net.batch_norm(net.conv(y, outputs, outputs, 3, 1, 1), outputs)
        if stride != 1:
            x = net.batch_norm(net.conv(x, inputs, outputs, 1, stride), outputs)
        return net.relu(net.node("Add", y, x))

    x = net.relu(net.batch_norm(net.conv("x", 3, 64, 7, 2, 3), 64))
    x = net.max_pool(x, 3, 2, 1)
    channels = 64
    for outputs in (64, 128, 256, 512):
        x = block(x, channels, outputs, 1 if outputs == 64 else 2)
        x = block(x, outputs, outputs, 1)
        channels = outputs
    x = net.node("Flatten", net.node("GlobalAveragePool", x), axis=1)
    return net.model(net.linear(x, 512, classes))


def resnet50_stage(size=56):
    """The first stage of ResNet-50."""
    net = Network("resnet50_stage", ["batch", 64, size, size], opset=7)
    x, channels = "x", 64
    for number in range(3):
        y = net.relu(net.conv(x, channels, 64, 1))
        y = net.conv(net.relu(net.conv(y, 64, 64, 3, 1, 1)), 64, 256, 1)
        x = net.relu(net.node("Sum", y, net.conv(x, channels, 256, 1) if number == 0 else x))
        channels = 256
    shape = net.constant([0, -1], np.int64)
    return net.model(net.node("Dropout", net.node("Reshape", x, shape)))


def mobilenet_v2(size=224, classes=1000):
    net = Network("mobilenet_v2", ["batch", 3, size, size], opset=17)
    low, high = net.constant(0, np.float32), net.constant(6, np.float32)

    def relu6(x):
        return net.node("Clip", x, low, high)

    x = relu6(net.conv("x", 3, 32, 3, 2, 1))
    channels = 32
    for expand, outputs, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                           (6, 160, 3, 2), (6, 320, 1, 1)]:
        for number in range(count):
            step, hidden, y = stride if number == 0 else 1, channels * expand, x
            if expand != 1:
                y = relu6(net.conv(y, channels, hidden, 1))
            y = relu6(net.conv(y, hidden, hidden, 3, step, 1, hidden))
            y = net.conv(y, hidden, outputs, 1)
            x = net.node("Add", x, y) if step == 1 and channels == outputs else y
            channels = outputs
    x = relu6(net.conv(x, 320, 1280, 1))
    x = net.node("ReduceMean", x, axes=[2, 3], keepdims=0)
    return net.model(net.linear(x, 1280, classes))


def mobilenet_v3_small(size=224, classes=1000):
    net = Network("mobilenet_v3_small", ["batch", 3, size, size], opset=18)
    axes = net.constant([-1, -2], np.int64)

    def activation(x, name):
        return net.relu(x) if name == "RE" else net.node("HardSwish", x)

    def squeeze(x, channels):
        inner = (channels // 4 + 4) // 8 * 8
        y = net.relu(net.conv(net.node("ReduceMean", x, axes, keepdims=1), channels, inner, 1))
        return net.node("Mul", net.node("HardSigmoid", net.conv(y, inner, channels, 1), alpha=1 / 6), x)

    x = activation(net.conv("x", 3, 16, 3, 2, 1), "HS")
    channels = 16
    for kernel, hidden, outputs, excited, name, stride in [
        (3, 16, 16, True, "RE", 2), (3, 72, 24, False, "RE", 2), (3, 88, 24, False, "RE", 1), (5, 96, 40, True, "HS", 2),
        (5, 240, 40, True, "HS", 1), (5, 240, 40, True, "HS", 1), (5, 120, 48, True, "HS", 1), (5, 144, 48, True, "HS", 1),
        (5, 288, 96, True, "HS", 2), (5, 576, 96, True, "HS", 1), (5, 576, 96, True, "HS", 1),
    ]:
        y = x if hidden == channels else activation(net.conv(x, channels, hidden, 1), name)
        y = activation(net.conv(y, hidden, hidden, kernel, stride, kernel // 2, hidden), name)
        y = squeeze(y, hidden) if excited else y
        y = net.conv(y, hidden, outputs, 1)
        x = net.node("Add", x, y) if stride == 1 and channels == outputs else y
        channels = outputs
    x = activation(net.conv(x, 96, 576, 1), "HS")
    x = net.node("Flatten", net.node("ReduceMean", x, axes, keepdims=1))
    return net.model(net.linear(net.node("HardSwish", net.linear(x, 576, 1024)), 1024, classes))


def squeezenet(size=224, classes=1000):
    net = Network("squeezenet1_1", ["batch", 3, size, size], opset=11)

    def fire(x, inputs, inner, outputs):
        x = net.relu(net.conv(x, inputs, inner, 1))
        parts = net.relu(net.conv(x, inner, outputs, 1)), net.relu(net.conv(x, inner, outputs, 3, 1, 1))
        return net.node("Concat", *parts, axis=1)

    x = net.max_pool(net.relu(net.conv("x", 3, 64, 3, 2)), 3, 2, ceil=1)
    x = net.max_pool(fire(fire(x, 64, 16, 64), 128, 16, 64), 3, 2, ceil=1)
    x = net.max_pool(fire(fire(x, 128, 32, 128), 256, 32, 128), 3, 2, ceil=1)
    x = fire(fire(x, 256, 48, 192), 384, 48, 192)
    x = fire(fire(x, 384, 64, 256), 512, 64, 256)
    x = net.relu(net.conv(net.node("Dropout", x), 512, classes, 1))
    return net.model(net.node("Flatten", net.node("GlobalAveragePool", x)))


def encoder(layers=2, width=96, heads=6, length="length"):
    """A transformer encoder; attention views its input by shapes that it computes."""
    net = Network("encoder", ["batch", length, width], opset=17)
    each = width // heads
    first, second = net.constant(0, np.int64), net.constant(1, np.int64)
    axis, rest = net.constant([0], np.int64), net.constant([-1], np.int64)

    def size(x, dimension):
        return net.node("Unsqueeze", net.node("Gather", net.node("Shape", x), dimension, axis=0), axis)

    def matmul(x, inputs, outputs):
        product = net.node("MatMul", x, net.weight(inputs, outputs, scale=1 / np.sqrt(inputs)))
        return net.node("Add", net.weight(outputs, scale=0.1), product)

    def norm(x):
        return net.node("LayerNormalization", x, net.weight(width, scale=0.1, positive=True),
                        net.weight(width, scale=0.1), axis=-1, epsilon=1e-5)

    def split_norm(x):
        """The same of elementwise operators."""
        minus = net.node("Sub", x, net.node("ReduceMean", x, axes=[-1]))
        square = net.node("Pow", minus, net.constant(2, np.float32))
        variance = net.node("Add", net.node("ReduceMean", square, axes=[-1]), net.constant(1e-5, np.float32))
        scaled = net.node("Mul", net.node("Div", minus, net.node("Sqrt", variance)), net.weight(width, positive=True))
        return net.node("Add", scaled, net.weight(width, scale=0.1))

    def attention(x):
        def part(y, *perm):
            shape = net.node("Concat", size(y, first), size(y, second), net.constant([heads], np.int64),
                             net.constant([each], np.int64), axis=0)
            return net.node("Transpose", net.node("Reshape", y, shape), perm=perm)

        q, k, v = net.node("Split", matmul(x, width, 3 * width), net.constant([width] * 3, np.int64), axis=-1, outputs=3)
        scores = net.node("MatMul", part(q, 0, 2, 1, 3), part(k, 0, 2, 3, 1))
        depth = net.node("Cast", net.node("Size", net.constant([0] * each, np.int64)), to=TensorProto.FLOAT)
        weights = net.node("Softmax", net.node("Div", scores, net.node("Sqrt", depth)), axis=-1)
        y = net.node("Transpose", net.node("MatMul", weights, part(v, 0, 2, 1, 3)), perm=[0, 2, 1, 3])
        shape = net.node("Concat", size(y, first), size(y, second), rest, axis=0)
        return matmul(net.node("Reshape", y, shape), width, width)

    def gelu(x):
        inner = net.node("Erf", net.node("Div", x, net.constant(np.sqrt(2), np.float32)))
        return net.node("Mul", net.node("Mul", x, net.node("Add", inner, net.constant(1, np.float32))),
                        net.constant(0.5, np.float32))

    x = "x"
    for number in range(layers):
        x = (norm if number % 2 == 0 else split_norm)(net.node("Add", x, attention(x)))
        x = norm(net.node("Add", x, matmul(gelu(matmul(x, width, 4 * width)), 4 * width, width)))
    starts, ends, axes = (net.constant([value], np.int64) for value in (0, 1, 1))
    token = net.node("Squeeze", net.node("Slice", x, starts, ends, axes), axes)
    return net.model(net.node("Tanh", net.linear(token, width, width)))


NETWORKS = [resnet18, resnet50_stage, mobilenet_v2, mobilenet_v3_small, squeezenet, encoder]


def main():
    builders = {build.__name__: build for build in NETWORKS}
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in builders:
        sys.exit(f"usage: models.py {'|'.join(builders)} FILE [IMAGE_SIZE]")
    build = builders[sys.argv[1]]
    if build is encoder and len(sys.argv) == 4:
        sys.exit("models.py: the encoder reads no images")
    onnx.save(build(*(int(word) for word in sys.argv[3:])), sys.argv[2])


if __name__ == "__main__":
    main()
