"""Random operators on images: convolutions, pools, normalisations of channels, and changes of resolution.

LRN is left out: ONNX Runtime computes its power with a relative error of 1e-4 where sums are large.
"""
import numpy as np

from net import Unsuitable


def image(net, least=1):
    return net.any(lambda value: value.is_image(least))


def windows(net, spatial, kernels, dilates=True):
    """Attributes of a random window for each spatial dimension, and the sizes of what it computes."""
    rank = len(spatial)
    kernel = [net.random.choice([k for k in kernels if k <= size + 2]) for size in spatial]
    stride = [net.pick(1, 1, 2, 3) for _ in spatial]
    dilation = [net.pick(1, 1, 1, 2) if dilates else 1 for _ in spatial]
    attributes = {"kernel_shape": kernel, "strides": stride}
    if dilates:
        attributes["dilations"] = dilation
    extent = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    pads = [0] * (2 * rank)
    if net.chance(0.15) and all(d == 1 for d in dilation):
        attributes["auto_pad"] = net.pick("SAME_UPPER", "SAME_LOWER", "VALID")
        if attributes["auto_pad"] != "VALID":
            if any(s > k for s, k in zip(stride, kernel)):
                raise Unsuitable  # the padding would be negative: peers crop, or begin with the first element
            return attributes, [-(-size // s) for size, s in zip(spatial, stride)]
    else:
        pads = [net.random.randint(0, k // 2) for k in kernel + kernel]
        attributes["pads"] = pads
    padded = [size + pads[i] + pads[i + rank] for i, size in enumerate(spatial)]
    if any(size < e for size, e in zip(padded, extent)):
        raise Unsuitable
    return attributes, [(size - e) // s + 1 for size, e, s in zip(padded, extent, stride)]


def divisors(number):
    return [d for d in range(1, number + 1) if number % d == 0]


def conv(net):
    x = image(net)
    channels = x.shape[1]
    attributes, spatial = windows(net, x.shape[2:], [1, 1, 2, 3, 3, 3, 4, 5, 7])
    groups = net.pick(1, 1, 1, 1, channels, net.random.choice(divisors(channels)))
    to = net.pick(1, 3, 8, 13, 16, 17, 24, 32, 40, 64) if groups == 1 else groups * net.pick(1, 1, 2, 3)
    kernel = attributes["kernel_shape"]
    if net.chance(0.2):
        del attributes["kernel_shape"]  # that of the weights
    inputs = [x, net.weight(to, channels // groups, *kernel)]
    if net.chance(0.6):
        inputs.append(net.weight(to, scale=0.3))
    return net.add("Conv", inputs, [x.shape[0], to, *spatial], group=groups, **attributes)


def conv_transpose(net):
    x = image(net)
    channels = x.shape[1]
    groups = net.pick(1, 1, 1, net.random.choice(divisors(channels)))
    to = groups * net.pick(1, 2, 5, 8)
    rank = x.rank - 2
    kernel = [net.pick(1, 2, 3, 4) for _ in range(rank)]
    stride = [net.pick(1, 2, 3) for _ in range(rank)]
    dilation = [net.pick(1, 1, 2) for _ in range(rank)]
    extra = [net.random.randrange(max(s, d)) for s, d in zip(stride, dilation)]
    pads = [net.random.randint(0, k // 2) for k in kernel + kernel]
    spatial = [s * (size - 1) + e + (k - 1) * d + 1 - pads[i] - pads[i + rank]
               for i, (size, s, e, k, d) in enumerate(zip(x.shape[2:], stride, extra, kernel, dilation))]
    if min(spatial) < 1:
        raise Unsuitable
    inputs = [x, net.weight(channels, to // groups, *kernel, scale=np.sqrt(1 / (channels * np.prod(kernel))))]
    if net.chance(0.5):
        inputs.append(net.weight(to, scale=0.3))
    if any(e >= s for e, s in zip(extra, stride)):
        raise Unsuitable  # ONNX Runtime wants less than the stride
    return net.add("ConvTranspose", inputs, [x.shape[0], to, *spatial], group=groups, kernel_shape=kernel, strides=stride,
                   dilations=dilation, pads=pads, output_padding=extra)


def arrays_of(attributes, rank):
    """Kernels, strides, dilations and the padding in front, for each spatial dimension."""
    return (attributes["kernel_shape"], attributes["strides"], attributes.get("dilations", [1] * rank),
            attributes.get("pads", [0] * rank)[:rank])


def sees_only_padding(size, outputs, kernel, stride, dilation, pad):
    taps = range(0, kernel * dilation, dilation)
    return any(not any(0 <= o * stride - pad + tap < size for tap in taps) for o in range(outputs))


def pool(net):
    x = image(net)
    op = net.pick("MaxPool", "AveragePool", "LpPool")
    dilates = op == "MaxPool" or net.opset >= 19 and op == "AveragePool"
    attributes, spatial = windows(net, x.shape[2:], [1, 2, 2, 3, 3, 5], dilates)
    if op == "MaxPool" and any(map(sees_only_padding, x.shape[2:], spatial, *arrays_of(attributes, x.rank - 2))):
        raise Unsuitable  # its maximum is the lowest number in peers, and an infinity by definition
    if op == "AveragePool" and net.chance(0.5):
        attributes["count_include_pad"] = 1
    if op == "LpPool":
        attributes["p"] = net.pick(1, 2)
    return net.add(op, [x], [*x.shape[:2], *spatial], **attributes)


def global_pool(net):
    x = image(net)
    return net.add(net.pick("GlobalAveragePool", "GlobalMaxPool"), [x], [*x.shape[:2], *[1] * (x.rank - 2)])


def batch_norm(net):
    x = image(net)
    c = x.shape[1]
    inputs = [x, net.weight(c, scale=0.3, positive=True), net.weight(c, scale=0.3), net.weight(c, scale=0.3),
              net.weight(c, scale=0.3, positive=True)]
    return net.add("BatchNormalization", inputs, x.shape, epsilon=net.pick(1e-5, 1e-3))


def conv_block(net):
    """A convolution, a batch norm, an activation, and perhaps a residual, of which most networks are made."""
    x = image(net)
    kernel = net.pick(1, 3, 3, 5)
    groups = net.pick(1, 1, x.shape[1])
    to = x.shape[1] if net.chance(0.6) or groups > 1 else net.pick(8, 12, 16, 32, 48)
    weights = net.weight(to, x.shape[1] // groups, *[kernel] * (x.rank - 2))
    y = net.add("Conv", [x, weights], [x.shape[0], to, *x.shape[2:]], group=groups, pads=[kernel // 2] * (2 * x.rank - 4))
    if net.chance(0.6):
        y = net.add("BatchNormalization", [y, net.weight(to, scale=0.3, positive=True), net.weight(to, scale=0.3),
                                           net.weight(to, scale=0.3), net.weight(to, scale=0.3, positive=True)], y.shape)
    if net.chance(0.4):
        y = net.add(net.pick("Relu", "Sigmoid", "Tanh", "LeakyRelu"), [y], y.shape)
    if to == x.shape[1] and net.chance(0.7):
        y = net.add("Add", net.pick([x, y], [y, x]), y.shape)
    return net.add("Relu", [y], y.shape) if net.chance(0.6) else y


def squeeze_and_excite(net):
    x = image(net)
    c, small = x.shape[1], net.pick(1, 4, 8)
    ones = [1] * (x.rank - 2)
    y = net.add("GlobalAveragePool", [x], [*x.shape[:2], *ones])
    y = net.add("Conv", [y, net.weight(small, c, *ones), net.weight(small)], [x.shape[0], small, *ones])
    y = net.add("Relu", [y], y.shape)
    y = net.add("Conv", [y, net.weight(c, small, *ones)], [x.shape[0], c, *ones])
    return net.add("Mul", [x, net.add("Sigmoid", [y], y.shape)], x.shape)


def instance_norm(net):
    x = image(net, least=2)
    c = x.shape[1]
    return net.add("InstanceNormalization", [x, net.weight(c, scale=0.3, positive=True), net.weight(c, scale=0.3)], x.shape,
                   epsilon=1e-3)


def prelu(net):
    x = image(net)
    shape = [x.shape[1]] + [1] * (x.rank - 2) if net.chance(0.7) else [1]
    return net.add("PRelu", [x, net.weight(*shape, scale=0.3)], x.shape)


def resize(net):
    x = image(net)
    mode = net.pick("nearest", "linear", "linear", "cubic") if x.rank == 4 else net.pick("nearest", "linear")
    if x.rank == 5 and mode == "linear":
        raise Unsuitable  # ONNX Runtime has fewer coordinate modes for it
    spatial = [max(1, net.pick(size, 2 * size, size // 2, net.random.randint(1, 2 * size))) for size in x.shape[2:]]
    attributes = {"mode": mode}
    attributes["coordinate_transformation_mode"] = net.pick("half_pixel", "asymmetric", "align_corners",
                                                            "pytorch_half_pixel")
    if mode == "nearest":
        attributes["nearest_mode"] = net.pick("round_prefer_floor", "floor", "ceil", "round_prefer_ceil")
        attributes["coordinate_transformation_mode"] = net.pick("half_pixel", "asymmetric")
        # ONNX Runtime computes places in float32, which moves those in the middle of two elements, or on one.
        if any(size % other and other % size for size, other in zip(x.shape[2:], spatial)):
            raise Unsuitable
    if isinstance(x.shape[0], int) and x.is_fixed(0) and net.chance(0.5):
        sizes = net.integers([*x.shape[:2], *spatial])
        inputs = [x, None, None, sizes] if net.opset >= 13 else [x, net.constant([], np.float32), net.constant([], np.float32), sizes]
    else:
        factors = [net.pick(1, 2, 3) for _ in spatial]
        spatial = [size * factor for size, factor in zip(x.shape[2:], factors)]
        roi = None if net.opset >= 13 else net.constant([], np.float32)
        inputs = [x, roi, net.constant([1, 1, *factors], np.float32)]
    return net.add("Resize", inputs, [*x.shape[:2], *spatial], **attributes)


def depth_to_space(net):
    x = net.any(lambda value: value.is_image() and value.rank == 4 and value.shape[1] % 4 == 0)
    return net.add("DepthToSpace", [x], [x.shape[0], x.shape[1] // 4, 2 * x.shape[2], 2 * x.shape[3]], blocksize=2,
                   mode=net.pick("DCR", "CRD"))


def space_to_depth(net):
    x = net.any(lambda value: value.is_image() and value.rank == 4 and value.shape[2] % 2 == value.shape[3] % 2 == 0)
    return net.add("SpaceToDepth", [x], [x.shape[0], 4 * x.shape[1], x.shape[2] // 2, x.shape[3] // 2], blocksize=2)


OPERATORS = [(conv, 6), (conv_block, 6), (conv_transpose, 1), (pool, 3), (global_pool, 1), (batch_norm, 2),
             (squeeze_and_excite, 1), (instance_norm, 1), (prelu, 0.5), (resize, 1.5),
             (depth_to_space, 0.5), (space_to_depth, 0.5)]
