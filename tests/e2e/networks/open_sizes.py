"""Networks with open sizes, as exporters write them: each computes sizes from its sizes, and is the same module for all of
them."""
import collections

import numpy as np
import onnx
from onnx import TensorProto, helper

# A network, the shapes of its inputs for each call (integers are random numbers below a bound, in a tuple with it), and
# whether a call is refused.
Case = collections.namedtuple("Case", "model calls")
CASES = {}
TYPES = {"f": TensorProto.FLOAT, "i": TensorProto.INT64}


class Net:
    def __init__(self, opset=18):
        self.nodes, self.inputs, self.outputs, self.weights, self.opset = [], [], [], [], opset
        self.random = np.random.default_rng(5)

    def input(self, name, shape, kind="f"):
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[kind], shape))
        return name

    def constant(self, value):
        name = f"c{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def weight(self, *shape):
        return self.constant((self.random.standard_normal(shape) * 0.3).astype(np.float32))

    def op(self, kind, *inputs, count=1, **attributes):
        outputs = [f"{kind}_{len(self.nodes)}" + (f"_{i}" if i else "") for i in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, name=f"{kind}_{len(self.nodes)}", **attributes))
        return outputs[0] if count == 1 else outputs

    def size(self, x, d):
        """The size of a dimension as a vector of one number, as torch.onnx writes x.shape[d]."""
        return self.op("Gather", self.op("Shape", x), self.ints(d))

    def scalar(self, x, d):
        return self.op("Gather", self.op("Shape", x), self.constant(np.int64(d)))

    def vector(self, scalar):
        return self.op("Unsqueeze", scalar, self.ints(0))

    def joined(self, *sizes):
        return self.op("Concat", *sizes, axis=0)

    def slice(self, x, begin, end, axis):
        return self.op("Slice", x, begin, end, self.ints(axis))

    def model(self, *outputs):
        infos = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", self.inputs, infos, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9)
        # Outputs need types.
        inferred = onnx.shape_inference.infer_shapes(model)
        types = {info.name: info.type.tensor_type.elem_type for info in inferred.graph.value_info}
        types |= {info.name: info.type.tensor_type.elem_type for info in inferred.graph.output}
        for info in model.graph.output:
            if info.name in types and types[info.name]:
                info.type.tensor_type.elem_type = types[info.name]
        return model


def case(*calls):
    """Adds a network, which a function builds, and the shapes of its inputs in each call."""
    def add(build):
        CASES[build.__name__] = Case(build, calls)
        return build
    return add


@case([(2, 5, 8)], [(1, 1, 8)], [(3, 11, 8)])
def variance(net):
    """x.var(dim=1): the number of elements less one is a tensor."""
    x = net.input("x", ["N", "T", 8])
    mean = net.op("ReduceMean", x, net.ints(1), keepdims=1)
    apart = net.op("Sub", x, mean)
    moment = net.op("ReduceMean", net.op("Mul", apart, apart), net.ints(1), keepdims=0)
    count = net.op("Cast", net.op("ReduceProd", net.size(x, 1), keepdims=0), to=1)
    rest = net.op("Max", net.op("Sub", count, net.constant(np.float32(1))), net.constant(np.float32(1)))
    return net.model(net.op("Div", net.op("Mul", moment, count), rest))


@case([(2, 5)], [(1, 1)], [(3, 11)])
def divided_by_length(net):
    x = net.input("x", ["N", "T"])
    return net.model(net.op("Div", x, net.op("Cast", net.scalar(x, 1), to=1)), net.op("Shape", x))


@case([(2, 3, 8, 9)], [(1, 3, 1, 1)], [(1, 3, 33, 17)])
def padded_to_multiple(net):
    """F.pad(x, (0, -w % 8, 0, -h % 8)), then windows of 8 x 8."""
    x = net.input("x", ["N", 3, "H", "W"])

    def missing(d):
        size, eight = net.scalar(x, d), net.constant(np.int64(8))
        return net.vector(net.op("Mod", net.op("Sub", eight, net.op("Mod", size, eight)), eight))
    zero = net.ints(0)
    pads = net.joined(zero, zero, zero, zero, zero, zero, missing(2), missing(3))
    y = net.op("Pad", x, pads)
    height, width = (net.op("Div", net.size(y, d), net.ints(8)) for d in (2, 3))
    shape = net.joined(net.size(y, 0), net.ints(3), height, net.ints(8), width, net.ints(8))
    return net.model(net.op("Transpose", net.op("Reshape", y, shape), perm=[0, 2, 4, 1, 3, 5]))


@case([(1, 3, 7, 9)], [(2, 3, 1, 1)], [(1, 3, 40, 64)])
def padded_by_floats(net):
    """math.ceil(h / 32) * 32, as tracing writes it: through floats."""
    x = net.input("x", ["N", 3, "H", "W"])

    def missing(d):
        size = net.size(x, d)
        up = net.op("Ceil", net.op("Div", net.op("Cast", size, to=1), net.constant(np.float32(32))))
        return net.op("Sub", net.op("Mul", net.op("Cast", up, to=7), net.ints(32)), size)
    zero = net.ints(0)
    return net.model(net.op("Pad", x, net.joined(zero, zero, zero, zero, zero, zero, missing(2), missing(3))))


@case([(2, 5, 4)], [(1, 40, 4)], [(3, 1, 4)])
def learned_positions(net):
    """x + pe[:x.shape[1]], of 40 positions."""
    x = net.input("x", ["N", "T", 4])
    return net.model(net.op("Relu", net.op("Add", x, net.slice(net.weight(40, 4), net.ints(0), net.size(x, 1), 0))))


@case([(1, 2, 8, 12)], [(2, 2, 16, 4)], [(1, 2, 4, 4)])
def up_and_down(net):
    """A U-Net: what is halved twice and doubled twice fits only sizes that 4 divides."""
    x = net.input("x", ["N", 2, "H", "W"])
    def down(y, o, i):
        return net.op("Relu", net.op("Conv", y, net.weight(o, i, 3, 3), pads=[1] * 4, strides=[2, 2]))
    def up(y, i, o):
        return net.op("ConvTranspose", y, net.weight(i, o, 2, 2), strides=[2, 2])
    first = down(x, 4, 2)
    second = down(first, 8, 4)
    y = net.op("Concat", up(second, 8, 4), first, axis=1)
    return net.model(net.op("Concat", up(y, 8, 2), x, axis=1))


@case([(2, 5, 4), (2, 3, 4)], [(2, 5, 4), (2, 0, 4)], [(1, 1, 4), (1, 7, 4)])
def cache(net):
    """Keys and values of a past, which may be empty, and a causal mask cut out of a larger one."""
    x, past = net.input("x", ["N", "T", 4]), net.input("past", ["N", "P", 4])
    keys = net.op("Concat", past, x, axis=1)
    total, now = net.size(keys, 1), net.size(x, 1)
    mask = net.constant(np.triu(np.full((32, 32), -1e9, np.float32), 1))
    rows = net.slice(mask, net.op("Sub", total, now), total, 0)
    scores = net.op("MatMul", x, net.op("Transpose", keys, perm=[0, 2, 1]))
    weights = net.op("Softmax", net.op("Add", scores, net.slice(rows, net.ints(0), total, 1)), axis=-1)
    return net.model(net.op("MatMul", weights, keys), keys)


@case([(2, 5), (2, 3, 4)], [(1, 1), (1, 0, 4)], [(1, 4), (1, 9, 4)])
def positions_after_past(net):
    """torch.arange(past, past + t) as the places of embeddings."""
    ids, past = net.input("ids", ["N", "T"], "i"), net.input("past", ["N", "P", 4])
    before = net.scalar(past, 1)
    places = net.op("Range", before, net.op("Add", before, net.scalar(ids, 1)), net.constant(np.int64(1)))
    table = net.op("Gather", net.weight(16, 4), places)
    words = net.op("Gather", net.weight(10, 4), ids)
    return net.model(net.op("Add", words, table), net.op("Concat", past, words, axis=1))


@case([(5,)], [(1,)], [(12,)])
def ranges_of_floats(net):
    x = net.input("x", ["T"])
    length = net.op("Cast", net.scalar(x, 0), to=1)
    zero, one = net.constant(np.float32(0)), net.constant(np.float32(1))
    steps = net.op("Range", zero, length, one)
    return net.model(net.op("Mul", x, net.op("Div", steps, length)))


@case([(2, 5, 3)], [(1, 2, 3)], [(2, 19, 3)])
def reflected(net):
    x = net.input("x", ["N", "T", 3])
    pads = net.ints(0, 1, 0, 0, 1, 0)
    y = net.op("Pad", x, pads, mode="reflect")
    return net.model(y, net.op("Pad", y, net.ints(0, 5, 2, 0, 3, 1), mode="edge"))


@case([(3, 7)], [(1, 4)], [(2, 18)])
def sliced(net):
    """x[:, t // 2:], x[:, -t // 3:], x[:, :t - 3], and x[:, t - 5:], whose bound is below 0 for short ones."""
    x = net.input("x", ["N", "T"])
    length = net.size(x, 1)
    half = net.slice(x, net.op("Div", length, net.ints(2)), net.ints(2**62), 1)
    most = net.slice(x, net.ints(0), net.op("Sub", length, net.ints(3)), 1)
    last = net.slice(x, net.op("Neg", net.op("Div", length, net.ints(3))), net.ints(2**62), 1)
    short = net.slice(x, net.op("Sub", length, net.ints(5)), net.ints(2**62), 1)
    return net.model(half, most, last, short)


@case([(6, 4)], [(2, 4)], [(10, 4)])
def chunked(net):
    """x.chunk(2) of an open size, whose halves are added."""
    x = net.input("x", ["N", 4])
    first, second = net.op("Split", x, count=2, axis=0, num_outputs=2)
    return net.model(net.op("Add", first, second))


@case([(6, 4)], [(2, 4)], [(10, 4)])
def pairs(net):
    """x.view(-1, 2, 4) of an open size."""
    x = net.input("x", ["N", 4])
    return net.model(net.op("ReduceMax", net.op("Reshape", x, net.ints(-1, 2, 4)), net.ints(1), keepdims=0))


@case([(2, 1, 4)], [(3, 1, 4)], [(1, 1, 4)])
def squeezed(net):
    x = net.input("x", ["N", "one", 4])
    return net.model(net.op("Relu", net.op("Squeeze", x, net.ints(1))))


@case([(2, 3), (2, 3)], [(1, 1), (1, 1)], [(4, 5), (4, 5)])
def named_apart(net):
    """Two inputs whose sizes the exporter named differently."""
    return net.model(net.op("Relu", net.op("Mul", net.input("a", ["N", "T"]), net.input("b", ["M", "S"]))))


@case([(2, 6, 4)], [(1, 2, 4)], [(3, 8, 4)])
def expanded(net):
    """A mask of [T, T] that is expanded to the batch, and heads taken apart and joined again."""
    x = net.input("x", ["N", "T", 4])
    batch, length = net.size(x, 0), net.size(x, 1)
    heads = net.op("Transpose", net.op("Reshape", x, net.joined(batch, length, net.ints(2, 2))), perm=[0, 2, 1, 3])
    mask = net.op("Trilu", net.op("ConstantOfShape", net.joined(length, length),
                                  value=onnx.numpy_helper.from_array(np.array([-5], np.float32))),
                  net.constant(np.int64(1)), upper=1)
    all_masks = net.op("Expand", mask, net.joined(batch, net.ints(2), length, length))
    scores = net.op("MatMul", heads, net.op("Transpose", heads, perm=[0, 1, 3, 2]))
    result = net.op("MatMul", net.op("Softmax", net.op("Add", scores, all_masks), axis=-1), heads)
    return net.model(net.op("Reshape", net.op("Transpose", result, perm=[0, 2, 1, 3]), net.joined(batch, length, net.ints(4))))


@case([(2, 10)], [(1, 4)], [(3, 17)])
def frames(net):
    """x.unfold(1, 4, 3): windows of a signal by gathering places."""
    x = net.input("x", ["N", "T"])
    count = net.op("Add", net.op("Div", net.op("Sub", net.scalar(x, 1), net.constant(np.int64(4))),
                                 net.constant(np.int64(3))), net.constant(np.int64(1)))
    starts = net.op("Mul", net.op("Range", net.constant(np.int64(0)), count, net.constant(np.int64(1))),
                    net.constant(np.int64(3)))
    places = net.op("Add", net.op("Unsqueeze", starts, net.ints(1)), net.constant(np.arange(4)))
    return net.model(net.op("ReduceMean", net.op("Gather", x, places, axis=1), net.ints(2), keepdims=0))


@case([(2, 0, 4)], [(2, 3, 4)], [(0, 5, 4)])
def empty(net):
    """A batch or a sequence without elements."""
    x = net.input("x", ["N", "T", 4])
    y = net.op("Relu", net.op("MatMul", x, net.weight(4, 6)))
    return net.model(net.op("Add", y, net.weight(6)), net.op("ReduceSum", y, net.ints(1), keepdims=0))


@case([(3, 8)], [(1, 8)], [(5, 8)])
def rolled(net):
    """torch.roll along an open batch, and a flip."""
    x = net.input("x", ["N", 8])
    last = net.slice(x, net.ints(-1), net.ints(2**62), 0)
    front = net.slice(x, net.ints(0), net.ints(-1), 0)
    y = net.op("Concat", last, front, axis=0)
    return net.model(net.op("Add", x, y), net.op("Slice", x, net.ints(-1), net.ints(-2**62), net.ints(0), net.ints(-1)))


@case([(1, 2, 4, 6)], [(2, 2, 1, 1)], [(1, 2, 7, 13)])
def upsampled(net):
    """F.interpolate(x, scale_factor=...), as detectors and UNets double their maps."""
    x = net.input("x", ["N", 2, "H", "W"])
    def scaled(*scales, **attributes):
        return net.op("Resize", x, "", net.constant(np.array([1, 1, *scales], np.float32)), **attributes)
    return net.model(
        scaled(2, 2, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        scaled(2, 3, mode="nearest", nearest_mode="round_prefer_ceil"),
        scaled(2, 1, mode="linear"),
        scaled(3, 2, mode="linear", coordinate_transformation_mode="align_corners"),
        scaled(2, 2.5, mode="cubic", coordinate_transformation_mode="pytorch_half_pixel"),
        scaled(1.5, 2, mode="cubic", exclude_outside=1, coordinate_transformation_mode="half_pixel_symmetric"))


@case([(1, 2, 5, 6), (1, 2, 10, 12)], [(2, 2, 1, 3), (2, 2, 1, 5)], [(1, 2, 9, 4), (1, 2, 4, 9)])
def resized_as_other(net):
    """F.interpolate(x, size=y.shape[2:]), as a feature pyramid adds its maps."""
    x, y = net.input("x", ["N", 2, "H", "W"]), net.input("y", ["N", 2, "A", "B"])
    sizes = net.slice(net.op("Shape", y), net.ints(2), net.ints(4), 0)
    sizes = net.joined(net.slice(net.op("Shape", x), net.ints(0), net.ints(2), 0), sizes)
    linear = net.op("Resize", x, "", "", sizes, mode="linear", coordinate_transformation_mode="pytorch_half_pixel")
    corners = net.op("Resize", x, "", "", sizes, mode="linear", coordinate_transformation_mode="align_corners")
    nearest = net.op("Resize", x, "", "", sizes, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    return net.model(net.op("Add", linear, y), net.op("Add", corners, y), net.op("Add", nearest, y))


@case([(1, 2, 5, 6)], [(2, 2, 16, 24)], [(1, 2, 33, 7)])
def resized_to_known(net):
    """Images of any size as a network of fixed size takes them, and half of them, smoothed."""
    x = net.input("x", ["N", 2, "H", "W"])
    fixed = net.op("Resize", x, "", "", net.ints(8, 12), axes=[2, 3], mode="linear")
    cubic = net.op("Resize", x, "", "", net.ints(12, 8), axes=[3, 2], mode="cubic", cubic_coeff_a=-0.5)
    half = net.op("Resize", x, "", net.constant(np.array([0.5, 0.5], np.float32)), axes=[2, 3], mode="linear", antialias=1)
    return net.model(fixed, cubic, half)


@case([(1, 2, 5, 6)], [(2, 2, 16, 24)], [(1, 2, 33, 7)])
def resized_by_one_factor(net):
    """Images of any size within, and around, a size, with their aspect ratio."""
    x = net.input("x", ["N", 2, "H", "W"])
    return net.model(*(net.op("Resize", x, "", "", net.ints(10, 14), axes=[2, 3], mode="linear", keep_aspect_ratio_policy=policy)
                       for policy in ("not_larger", "not_smaller")))


@case([(1, 1, 8, 12)], [(1, 1, 3, 5)], [(1, 1, 16, 4)])
def resized_by_computed_scales(net):
    """Scales that the network computes: 32 divided by a size it is known to have been pooled by."""
    x = net.input("x", [1, 1, "H", "W"])
    height = net.op("Cast", net.op("Add", net.size(x, 2), net.ints(3)), to=1)
    scale = net.op("Div", height, net.constant(np.array([2], np.float32)))
    one = net.constant(np.array([1], np.float32))
    return net.model(net.op("Resize", x, "", net.op("Concat", one, one, one, scale, axis=0), mode="linear",
                            coordinate_transformation_mode="asymmetric"))


@case([(40, 2, 4)], [(5, 1, 4)], [(16, 3, 4)])
def recurrent_frames(net):
    """A GRU over windows of a signal: their number, (T - 4) / 3 + 1, is not at least 1 for every T."""
    x = net.input("x", ["T", "N", 4])
    y = net.op("Transpose", net.op("Conv", net.op("Transpose", x, perm=[1, 2, 0]), net.weight(6, 4, 4), strides=[3]),
               perm=[2, 0, 1])
    return net.model(*net.op("GRU", y, net.weight(1, 15, 6), net.weight(1, 15, 5), count=2, hidden_size=5))


@case([(3, 1, 4), (2, 1, 5), (2, 1, 5)], [(1, 2, 4), (2, 2, 5), (2, 2, 5)])
def recurrent(net):
    """Sequences of any length."""
    x, h, c = net.input("x", ["T", "N", 4]), net.input("h", [2, "N", 5]), net.input("c", [2, "N", 5])
    _, last, cell = net.op("LSTM", x, net.weight(2, 20, 4), net.weight(2, 20, 5), "", "", h, c, count=3, hidden_size=5,
                           direction="bidirectional")
    return net.model(last, cell)


def grid(seed, *shape):
    return (np.random.default_rng(seed).random((*shape, 2), np.float32) * 3 - 1.5).astype(np.float32)


@case([(2, 3, 4, 6), grid(1, 2, 5, 7)], [(1, 3, 1, 1), grid(2, 1, 1, 3)], [(1, 3, 1, 9), grid(3, 1, 2, 2)],
      [(3, 3, 17, 13), grid(4, 3, 4, 1)])
def sampled_by_a_grid(net):
    """F.grid_sample of images of any size, in all modes."""
    x, places = net.input("x", ["N", 3, "H", "W"]), net.input("places", ["N", "A", "B", 2])
    return net.model(*(net.op("GridSample", x, places, mode=mode, padding_mode=padding, align_corners=align)
                       for mode in ("bilinear", "nearest", "bicubic") for padding in ("zeros", "border", "reflection")
                       for align in (0, 1)))
