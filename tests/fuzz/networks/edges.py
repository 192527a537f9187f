"""Random operators on types other than float32, and at the edges of their definitions: windows that exceed their input,
padding that takes elements away, infinities, the ends of int64.

Results are floats again, which further operators may use. What ONNX Runtime does not implement counts as not run by it.
"""
import numpy as np
import onnx

from net import Unsuitable

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
SUMMED = [np.int32, np.int32, np.int64]


def number_of(dtype):
    return onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def as_integers(net, x, dtype, most=9):
    """Whole numbers from -most to most, or from 0 on, that the value decides."""
    scaled = net.add("Mul", [x, net.constant(net.pick(0.7, 2.3), np.float32)], x.shape)
    low = 0 if np.dtype(dtype).kind == "u" else -most
    bounds = [net.constant(low, np.float32), net.constant(most, np.float32)]
    limited = net.add("Clip", [net.add("Floor", [scaled], x.shape), *bounds], x.shape)
    return net.add("Cast", [limited], x.shape, dtype, to=number_of(dtype))


def as_floats(net, value, scale=1):
    y = net.add("Cast", [value], value.shape, to=1)
    return y if scale == 1 else net.add("Mul", [y, net.constant(scale, np.float32)], y.shape)


def some(net, least=1):
    return net.any(lambda value: value.is_float() and value.rank > 0 and bool(value.fixed_axes(least)))


def casts(net):
    """Through types that have all of the numbers, and saturate none."""
    x = as_integers(net, some(net), net.pick(*INTEGERS), 100)
    for _ in range(net.pick(1, 2)):
        low = 0 if x.dtype.kind == "u" else -100
        to = net.pick(*[kind for kind in INTEGERS if np.iinfo(kind).min <= low], np.float64, np.float16)
        x = net.add("Cast", [x], x.shape, to, to=number_of(to))
    return as_floats(net, x, 2**-5)


def reduction(net):
    dtype = net.pick(*SUMMED)
    x = as_integers(net, some(net), dtype)
    op = net.pick("ReduceSum", "ReduceMean", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                  "ReduceSumSquare", "ArgMax", "ArgMin", "CumSum")
    axis = net.random.choice(x.fixed_axes())
    if op == "CumSum":
        return as_floats(net, net.add(op, [x, net.integers(axis)], x.shape, dtype), 2**-4)
    shape = [1 if a == axis else size for a, size in enumerate(x.shape)]
    if op.startswith("Arg"):
        return as_floats(net, net.add(op, [x], shape, np.int64, axis=axis), 2**-4)
    if op == "ReduceProd" and x.shape[axis] > 5:
        raise Unsuitable
    if net.opset >= (13 if op == "ReduceSum" else 18):
        return as_floats(net, net.add(op, [x, net.integers([axis])], shape, dtype), 2**-4)
    return as_floats(net, net.add(op, [x], shape, dtype, axes=[axis]), 2**-4)


def power(net):
    if net.opset < 12:
        raise Unsuitable
    dtype = net.pick(np.int32, np.int64)
    x = as_integers(net, some(net), dtype, 4)
    if net.chance(0.5):
        exponent = net.constant(net.pick(0, 1, 2, 3, 7), net.pick(dtype, np.int64, np.float32))
    else:
        exponent = net.add("Abs", [as_integers(net, net.any(lambda y: y.is_float() and y.shape == x.shape), np.int64, 6)],
                           x.shape, np.int64)
    return as_floats(net, net.add("Pow", [x, exponent], x.shape, dtype), 2**-10)


def bits(net):
    dtype = net.pick(np.uint8, np.uint32, np.uint64)
    x = as_integers(net, some(net), dtype, 15)
    if net.opset >= 18 and net.chance(0.6):
        op = net.pick("BitwiseAnd", "BitwiseOr", "BitwiseXor")
        return as_floats(net, net.add(op, [x, net.constant(net.pick(1, 6, 12), dtype)], x.shape, dtype), 2**-3)
    return as_floats(net, net.add("BitShift", [x, net.constant(net.pick(0, 1, 3), dtype)], x.shape, dtype,
                                  direction=net.pick("LEFT", "RIGHT")), 2**-5)


def extremes(net):
    """Arithmetic at the ends of a type, which wraps, and comparisons there."""
    dtype = net.pick(np.int32, np.int64)
    limits = np.iinfo(dtype)
    x = as_integers(net, some(net), dtype)
    op = net.pick("Add", "Sub", "Mul", *["Max", "Min"] * (net.opset >= 12), "Greater", "Less", "Equal")
    end = net.constant(net.pick(int(limits.max), int(limits.min), int(limits.max) - 3), dtype)
    pair = [x, end] if net.chance(0.5) else [end, x]
    if op in ("Greater", "Less", "Equal"):
        return as_floats(net, net.add(op, pair, x.shape, np.bool_))
    y = net.add(op, pair, x.shape, dtype)
    return as_floats(net, y, 2.0 ** -np.dtype(dtype).itemsize / 2.0 ** (8 * np.dtype(dtype).itemsize - 4))


def product(net):
    dtype = net.pick(np.int32, np.int64)
    x = net.any(lambda value: value.is_float() and value.rank >= 2 and value.is_fixed(value.rank - 1))
    a = as_integers(net, x, dtype)
    weights = net.constant(net.numpy.integers(-5, 6, [x.shape[-1], net.pick(1, 5, 17)]), dtype)
    return as_floats(net, net.add("MatMul", [a, weights], [*x.shape[:-1], weights.shape[1]], dtype), 2**-6)


def pad(net):
    """Padding before and after, of which some takes elements away, more than there are for constants."""
    x = some(net)
    modes = ["constant", "constant", "edge", "reflect"] + ["wrap"] * (net.opset >= 19)
    mode, before, after = net.random.choice(modes), [0] * x.rank, [0] * x.rank
    for axis in x.fixed_axes():
        size = x.shape[axis]
        before[axis], after[axis] = net.random.randint(-3, 4) * net.pick(0, 1), net.random.randint(-3, 4) * net.pick(0, 1)
        rest = size + min(before[axis], 0) + min(after[axis], 0)
        if mode != "constant" and (rest < 1 or mode != "edge" and max(before[axis], after[axis]) > rest - 1):
            before[axis] = after[axis] = 0
    shape = [size if b == a == 0 else size + b + a for size, b, a in zip(x.shape, before, after)]
    if any(size < 1 for size in shape):
        raise Unsuitable
    dtype = net.pick(np.float32, np.float32, np.int32, np.int64, np.uint8, np.float64)
    value = x if dtype == np.float32 else as_integers(net, x, dtype) if dtype != np.float64 else net.add(
        "Cast", [x], x.shape, dtype, to=number_of(dtype))
    inputs = [value, net.integers(before + after)]
    if mode == "constant" and net.chance(0.7):
        inputs.append(net.constant(net.pick(0, 3, 250), dtype))
    y = net.add("Pad", inputs, shape, dtype, mode=mode)
    return y if dtype == np.float32 else as_floats(net, y, 2**-3)


def window(net):
    """Pools that round up, whose windows may exceed their inputs, and the places of maxima."""
    x = net.any(lambda value: value.is_image())
    rank = x.rank - 2
    op = net.pick("MaxPool", "MaxPool", "AveragePool", *["LpPool"] * (net.opset >= 18))
    kernel = [net.pick(1, 2, 3, 4) for _ in range(rank)]
    stride = [net.pick(1, 2, 3) for _ in range(rank)]
    pads = [net.random.randint(0, k // 2) for k in kernel + kernel]
    spatial = []
    for axis, (size, k, s) in enumerate(zip(x.shape[2:], kernel, stride)):
        count = -(-(size + pads[axis] + pads[axis + rank] - k) // s) + 1
        begins_behind = (count - 1) * s >= size + pads[axis]
        count -= begins_behind
        # ONNX's shape inference counts windows that begin behind the input before opset 22.
        if count < 1 or begins_behind and net.opset < 22:
            raise Unsuitable
        spatial.append(count)
    attributes = {"kernel_shape": kernel, "strides": stride, "pads": pads, "ceil_mode": 1}
    shape = [*x.shape[:2], *spatial]
    if op == "LpPool":
        attributes["p"] = net.pick(1, 2, 3)
    if op == "MaxPool" and x.is_fixed(0) and net.chance(0.5):
        _, places = net.add_all(op, [x], [(shape, np.float32), (shape, np.int64)], **attributes)
        return as_floats(net, places, 2**-7)
    return net.add(op, [x], shape, **attributes)


def infinities(net):
    """A reduction of what is infinite in places, limited again."""
    x = some(net)
    axis = net.random.choice(x.fixed_axes())
    low = net.add("Less", [x, net.constant(net.pick(0, 1.5), np.float32)], x.shape, np.bool_)
    wild = net.add("Where", [low, net.constant(net.pick(-np.inf, np.inf), np.float32), x], x.shape)
    op = net.pick("ReduceLogSumExp", "ReduceMax", "ReduceMin", "ReduceSum")
    shape = [1 if a == axis else size for a, size in enumerate(x.shape)]
    if net.opset >= (13 if op == "ReduceSum" else 18):
        y = net.add(op, [wild, net.integers([axis])], shape)
    else:
        y = net.add(op, [wild], shape, axes=[axis])
    # Nothing else reads the infinities: ONNX Runtime's maximum of a window of -inf is the lowest number.
    net.values.remove(wild)
    net.values.remove(y)
    return net.add("Clip", [y, net.constant(-50, np.float32), net.constant(50, np.float32)], shape)


def grid_sample(net):
    if net.opset < 16:
        raise Unsuitable
    x = net.any(lambda value: value.is_image() and value.rank == 4 and value.is_fixed(0))
    modes = ["linear", "cubic"] if net.opset >= 20 else ["bilinear", "bicubic"]
    size = [net.random.randint(1, 6), net.random.randint(1, 6)]
    grid = net.weight(x.shape[0], *size, 2, scale=net.pick(0.5, 1.0, 2.0))
    return net.add("GridSample", [x, grid], [*x.shape[:2], *size], mode=net.random.choice(modes),
                   padding_mode=net.pick("zeros", "border", "reflection"), align_corners=net.pick(0, 1))


def quantized(net):
    """Integers of 16 bits, or of 8, through a quantization and back."""
    x = net.any()
    kinds = [np.uint8, np.int8] + [np.uint16, np.int16] * (net.opset >= 21)
    dtype = net.random.choice(kinds)
    limits = np.iinfo(dtype)
    zero = net.constant(net.random.randint(limits.min, limits.max), dtype)
    # Steps of 8 bits for both: those of 16 bits are as small as the errors of what is rounded to them.
    inputs = [net.constant(np.float32(8 / 255), np.float32), zero]
    y = net.add("QuantizeLinear", [x, *inputs], x.shape, dtype)
    return net.add("DequantizeLinear", [y, *inputs], x.shape)


def squeeze(net):
    x = net.any(lambda value: value.is_float() and len(value.fixed_axes()) == value.rank)
    return net.add("Squeeze", [x], [size for size in x.shape if size != 1])


def far_slice(net):
    """Slices whose bounds and steps are beyond any size."""
    x = some(net)
    axis = net.random.choice(x.fixed_axes())
    size, far = x.shape[axis], 2**63 - 1
    start, end, step = net.pick((0, far, far), (-far, far, 2**40), (far, -far, -1), (size - 1, -far, -far), (-1, -far, -2),
                                (-far, far, 3))
    first = min(max(start + size if start < 0 else start, 0), size - (step < 0))
    last = min(max(end + size if end < 0 else end, 0 if step > 0 else -1), size)
    count = len(range(first, last, step))
    inputs = [x, net.integers([start]), net.integers([end]), net.integers([axis]), net.integers([step])]
    return net.add("Slice", inputs, [count if a == axis else s for a, s in enumerate(x.shape)])


OPERATORS = [(casts, 1), (reduction, 1.5), (power, 0.7), (bits, 0.5), (extremes, 0.7), (product, 0.5), (pad, 1.5),
             (window, 1.5), (infinities, 0.7), (grid_sample, 0.7), (quantized, 0.5), (squeeze, 0.3), (far_slice, 0.7)]
