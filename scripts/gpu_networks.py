#!/usr/bin/env python3
"""Two networks that ferry and PyTorch compute on a GPU: a narrow ResNet-18, and a transformer's block.

    gpu_networks.py write FOLDER [--small]              writes them in ONNX's format, in float32 and float16
    gpu_networks.py names                               lists them
    gpu_networks.py compare NAME... --ferry FERRY --results FOLDER
                                                        times PyTorch, and compares what both compute

Each network is described once, over a list of operations that either become nodes of ONNX or are run by PyTorch. Weights
and inputs are random, from a fixed seed. `compare` runs in a bundle (gpu_bundle.sh), needs NumPy and PyTorch, and exits
with 1 if results differ by more than the rounding of their type, which "WRONG NAME ..." says.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

NAMES = ("resnet_f32", "resnet_f16", "transformer_f32", "transformer_f16")
SEED = 7
# Largest difference as a share of the largest result: rounding of some dozen layers.
TOLERANCE = {"f32": 2e-3, "f16": 4e-2}


class Weights:
    """Draws weights in the order in which the network asks for them, scaled so that values neither grow nor vanish."""

    def __init__(self, dtype):
        self.random = np.random.RandomState(SEED)
        self.dtype = dtype

    def draw(self, *shape, fan_in=None):
        scale = 1.0 if fan_in is None else (1.0 / fan_in) ** 0.5
        return (self.random.standard_normal(shape) * scale).astype(self.dtype)

    def ones(self, *shape):
        return np.ones(shape, self.dtype)


def resnet(net, x, weights, small):
    """Like ResNet-18 with three eighths of its channels, batch normalization folded into the convolutions."""
    width = 4 if small else 24

    def conv(x, into, out, size, stride=1):
        kernel = weights.draw(out, into, size, size, fan_in=into * size * size)
        return net.conv(x, kernel, weights.draw(out) * weights.dtype(0.1), stride, size // 2)

    x = net.max_pool(net.relu(conv(x, 3, width, 7, 2)))
    into = width
    for stage in range(2 if small else 4):
        out = width << stage
        for block in range(1 if small else 2):
            stride = 2 if stage > 0 and block == 0 else 1
            inner = conv(net.relu(conv(x, into, out, 3, stride)), out, out, 3)
            skip = conv(x, into, out, 1, stride) if into != out else x
            x = net.relu(net.add(inner, skip))
            into = out
    return net.linear(net.mean(x), weights.draw(into, 10 if small else 1000, fan_in=into))


def transformer(net, x, weights, small):
    """A block of a transformer's encoder: attention, two products, normalization before each."""
    batch, length, width, heads = (1, 8, 16, 2) if small else (8, 512, 256, 4)

    def project(x, into, out):
        return net.matmul(x, weights.draw(into, out, fan_in=into))

    normal = net.layer_norm(x, weights.ones(width))
    q, k, v = (net.heads(project(normal, width, width), batch, length, heads, width // heads) for _ in range(3))
    scores = net.scale(net.matmul(q, net.transposed(k)), (width // heads) ** -0.5)
    mixed = net.joined(net.matmul(net.softmax(scores), v), batch, length, width)
    x = net.add(x, project(mixed, width, width))
    inner = project(net.layer_norm(x, weights.ones(width)), width, 4 * width)
    return net.add(x, project(net.relu(inner), 4 * width, width))


def input_of(name, small):
    kind, dtype = name.split("_")
    shape = {"resnet": (1, 3, 32, 32) if small else (16, 3, 224, 224),
             "transformer": (1, 8, 16) if small else (8, 512, 256)}[kind]
    return np.random.RandomState(SEED + 1).standard_normal(shape).astype(numpy_type(dtype))


def numpy_type(dtype):
    return np.float32 if dtype == "f32" else np.float16


def build(name, net, x, small):
    kind, dtype = name.split("_")
    return {"resnet": resnet, "transformer": transformer}[kind](net, x, Weights(numpy_type(dtype)), small)


class OnnxNet:
    """Makes nodes; a value is its name."""

    def __init__(self, onnx, dtype):
        self.onnx, self.dtype, self.nodes, self.constants = onnx, dtype, [], []

    def constant(self, array):
        name = f"w{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def conv(self, x, kernel, bias, stride, pad):
        return self.node("Conv", [x, self.constant(kernel), self.constant(bias)], strides=[stride] * 2, pads=[pad] * 4)

    def max_pool(self, x):
        return self.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)

    def relu(self, x):
        return self.node("Relu", [x])

    def add(self, a, b):
        return self.node("Add", [a, b])

    def mean(self, x):
        return self.node("Flatten", [self.node("GlobalAveragePool", [x])])

    def linear(self, x, weight):
        return self.node("MatMul", [x, self.constant(weight)])

    def matmul(self, a, b):
        return self.node("MatMul", [a, b if isinstance(b, str) else self.constant(b)])

    def layer_norm(self, x, scale):
        return self.node("LayerNormalization", [x, self.constant(scale)], axis=-1)

    def heads(self, x, batch, length, heads, size):
        shape = self.constant(np.array([batch, length, heads, size], np.int64))
        return self.node("Transpose", [self.node("Reshape", [x, shape])], perm=[0, 2, 1, 3])

    def transposed(self, x):
        return self.node("Transpose", [x], perm=[0, 1, 3, 2])

    def scale(self, x, factor):
        return self.node("Mul", [x, self.constant(np.array(factor, self.dtype))])

    def softmax(self, x):
        return self.node("Softmax", [x], axis=-1)

    def joined(self, x, batch, length, width):
        shape = self.constant(np.array([batch, length, width], np.int64))
        return self.node("Reshape", [self.node("Transpose", [x], perm=[0, 2, 1, 3]), shape])


class TorchNet:
    """Runs the operations. Weights are moved to the GPU in the first run and used again, in their order."""

    def __init__(self, torch, device):
        self.torch, self.device, self.kept, self.next = torch, device, [], 0

    def constant(self, array):
        if self.next == len(self.kept):
            self.kept.append(self.torch.from_numpy(np.ascontiguousarray(array)).to(self.device))
        self.next += 1
        return self.kept[self.next - 1]

    def conv(self, x, kernel, bias, stride, pad):
        return self.torch.nn.functional.conv2d(x, self.constant(kernel), self.constant(bias), stride, pad)

    def max_pool(self, x):
        return self.torch.nn.functional.max_pool2d(x, 3, 2, 1)

    def relu(self, x):
        return self.torch.relu(x)

    def add(self, a, b):
        return a + b

    def mean(self, x):
        return x.mean((2, 3))

    def linear(self, x, weight):
        return x @ self.constant(weight)

    def matmul(self, a, b):
        return a @ (self.constant(b) if isinstance(b, np.ndarray) else b)

    def layer_norm(self, x, scale):
        return self.torch.nn.functional.layer_norm(x, x.shape[-1:], self.constant(scale))

    def heads(self, x, batch, length, heads, size):
        return x.reshape(batch, length, heads, size).permute(0, 2, 1, 3)

    def transposed(self, x):
        return x.transpose(2, 3)

    def scale(self, x, factor):
        return x * factor

    def softmax(self, x):
        return self.torch.softmax(x, -1)

    def joined(self, x, batch, length, width):
        return x.permute(0, 2, 1, 3).reshape(batch, length, width)


class RecordedWeights:
    """Gives PyTorch's later runs weights without drawing them again."""

    dtype = staticmethod(lambda value: value)

    def draw(self, *_, **__):
        return Anything()

    def ones(self, *_):
        return Anything()


class Anything(np.ndarray):
    """Stands for an array whose contents nobody reads."""

    def __new__(cls):
        return np.zeros(()).view(cls)


def write(folder, small):
    import onnx

    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        dtype = numpy_type(name.split("_")[1])
        net, x = OnnxNet(onnx, dtype), input_of(name, small)
        result = build(name, net, "x", small)
        net.nodes.append(onnx.helper.make_node("Identity", [result], ["y"], name="result"))
        element = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        graph = onnx.helper.make_graph(
            net.nodes, name, [onnx.helper.make_tensor_value_info("x", element, x.shape)],
            [onnx.helper.make_tensor_value_info("y", element, None)], net.constants)
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model), str(folder / f"{name}.onnx"))


def torch_result(torch, device, name, x, small):
    """Returns the result, and a function that computes it again without drawing weights."""
    net = TorchNet(torch, device)
    with torch.no_grad():
        result = build(name, net, x, small)
        network = {"resnet": resnet, "transformer": transformer}[name.split("_")[0]]

        def again():
            net.next = 0
            return network(net, x, RecordedWeights(), small)

        return result, again


def median_ms(torch, run):
    times = []
    with torch.no_grad():
        for _ in range(10):
            run()
        torch.cuda.synchronize()
        for _ in range(30):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(10):
                run()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) / 10)
    return sorted(times)[len(times) // 2]


def compare(name, ferry, results, small):
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = input_of(name, small)
    np.save(results / "x.npy", x)
    expected, again = torch_result(torch, device, name, torch.from_numpy(x).to(device), small)
    figures = {"torch": torch.__version__, "device": str(device)}
    if device.type == "cuda":
        figures["eager_ms"] = median_ms(torch, again)
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.no_grad(), torch.cuda.graph(graph):
                again()
            figures["graph_ms"] = median_ms(torch, graph.replay)
        except RuntimeError as error:
            print(f"{name}: no CUDA graph of PyTorch: {error}")
    ran = subprocess.run(
        [ferry, "run", f"networks/{name}.ferry", "--arg", f"x=@{results}/x.npy", "--out", f"y=@{results}/y.npy", "-q"],
        capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        print(f"WRONG {name} does not run: {ran.stderr.strip()}", flush=True)
        return 1
    want, got = expected.float().cpu().numpy(), np.load(results / "y.npy").astype(np.float32)
    error = float(np.max(np.abs(want - got)) / max(np.max(np.abs(want)), 1e-30))
    figures["largest_difference"] = error
    known = json.loads((results / "torch.json").read_text()) if (results / "torch.json").exists() else {}
    known[name] = figures
    (results / "torch.json").write_text(json.dumps(known, indent=1))
    times = ", ".join(f"{key[:-3]} {value:.4g} ms" for key, value in figures.items() if key.endswith("_ms"))
    print(f"{name:18} torch {times or 'untimed, without a GPU'}; largest difference {error:.2e} of the largest result",
          flush=True)
    if error <= TOLERANCE[name.split("_")[1]]:
        return 0
    print(f"WRONG {name} differs from PyTorch's by {error:.2e} of the largest result", flush=True)
    return 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=("write", "names", "compare"))
    parser.add_argument("what", nargs="*", help="the folder, or names")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--ferry", default="bin/ferry")
    parser.add_argument("--results", type=Path, default=Path("results"))
    options = parser.parse_args()
    if options.command == "names":
        print("\n".join(NAMES))
    elif options.command == "write":
        write(Path(options.what[0]), options.small)
    else:
        small = options.small or Path("small").exists()
        return max(compare(name, options.ferry, options.results, small) for name in options.what)
    return 0


if __name__ == "__main__":
    sys.exit(main())
