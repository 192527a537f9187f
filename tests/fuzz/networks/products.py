"""Random products of matrices, attention, recurrent layers, and quantized operators."""
import numpy as np

from net import Open, Unsuitable


def is_matrix(value):
    return value.is_float() and value.rank >= 2 and value.is_fixed(value.rank - 1)


def matmul(net):
    x = net.any(is_matrix)
    k, n = x.shape[-1], net.pick(1, 4, 7, 16, 33, 64)

    def fits(y):
        return is_matrix(y) and y.shape[-2] == k and y.is_fixed(y.rank - 2) and (y.rank == 2 or y.shape[:-2] == x.shape[:-2])

    others = [value for value in net.values if fits(value)]
    if others and net.chance(0.4):
        y = net.random.choice(others)
        return net.add("MatMul", [x, y], [*x.shape[:-1], y.shape[-1]])
    if x.rank == 3 and x.is_fixed(0) and net.chance(0.3):
        return net.add("MatMul", [x, net.weight(x.shape[0], k, n, scale=k**-0.5)], [*x.shape[:-1], n])
    y = net.add("MatMul", [x, net.weight(k, n, scale=k**-0.5)], [*x.shape[:-1], n])
    return net.add("Add", [y, net.weight(n, scale=0.3)], y.shape) if net.chance(0.5) else y


def self_product(net):
    """Two values with one open or fixed dimension in common, both computed."""
    x = net.any(lambda value: is_matrix(value) and value.rank <= 4)
    order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    other = net.add("Transpose", [x], [x.shape[axis] for axis in order], perm=order)
    y = net.add("MatMul", [x, other], [*x.shape[:-1], x.shape[-2]])
    return net.add("Mul", [y, net.constant(1 / x.shape[-1], np.float32)], y.shape)


def gemm(net):
    x = net.any(lambda value: value.is_float() and value.rank == 2)
    transposed = net.chance(0.3)
    m, k = x.shape[::-1] if transposed else x.shape
    if isinstance(k, Open):
        raise Unsuitable
    n, flips = net.pick(1, 5, 10, 16, 40), net.pick(0, 1)
    inputs = [x, net.weight(*([n, k] if flips else [k, n]), scale=k**-0.5)]
    if net.chance(0.7):
        bias = net.pick([n], [1, n], [1], []) + []
        if not isinstance(m, Open):
            bias = net.pick(bias, [m, n], [m, 1])
        inputs.append(net.weight(*bias, scale=0.5))
    return net.add("Gemm", inputs, [m, n], transA=int(transposed), transB=flips, alpha=net.pick(1.0, 0.5),
                   beta=net.pick(1.0, 2.0))


def einsum(net):
    if net.opset < 12:
        raise Unsuitable
    x = net.any(lambda value: is_matrix(value) and value.rank in (2, 3))
    k = x.shape[-1]
    equation, shape, result = net.pick(
        *[("ij,jk->ik", [k, 5], [x.shape[0], 5]), ("ij,kj->ki", [5, k], [5, x.shape[0]]), ("ij,j->i", [k], [x.shape[0]])]
        if x.rank == 2 else
        [("bij,jk->bik", [k, 5], [*x.shape[:2], 5]), ("bij,jk->bki", [k, 5], [x.shape[0], 5, x.shape[1]]),
         ("bij,j->ib", [k], [x.shape[1], x.shape[0]])])
    return net.add("Einsum", [x, net.weight(*shape, scale=k**-0.5)], result, equation=equation)


def attention(net):
    x = net.any(lambda value: value.is_float() and value.rank == 3 and value.is_fixed(2))
    batch, length, width = x.shape
    heads, depth = net.pick(1, 2, 3), net.pick(4, 5, 8)

    def head(order):
        y = net.add("MatMul", [x, net.weight(width, heads * depth, scale=width**-0.5)], [batch, length, heads * depth])
        y = net.add("Reshape", [y, net.integers([0, 0, heads, depth])], [batch, length, heads, depth])
        return net.add("Transpose", [y], [y.shape[axis] for axis in order], perm=order)

    scores = net.add("MatMul", [head([0, 2, 1, 3]), head([0, 2, 3, 1])], [batch, heads, length, length])
    scores = net.add("Mul", [scores, net.constant(depth**-0.5, np.float32)], scores.shape)
    if not isinstance(length, Open) and net.chance(0.5):
        mask = np.tri(length, dtype=bool)
        if net.chance(0.5):
            scores = net.add("Where", [net.constant(mask, bool), scores, net.constant(-1e9, np.float32)], scores.shape)
        else:
            scores = net.add("Add", [scores, net.constant(np.where(mask, 0, -np.inf), np.float32)], scores.shape)
    scores = net.add("Softmax", [scores], scores.shape, axis=3)
    y = net.add("MatMul", [scores, head([0, 2, 1, 3])], [batch, heads, length, depth])
    y = net.add("Transpose", [y], [batch, length, heads, depth], perm=[0, 2, 1, 3])
    y = net.add("Reshape", [y, net.integers([0, 0, heads * depth])], [batch, length, heads * depth])
    y = net.add("MatMul", [y, net.weight(heads * depth, width, scale=(heads * depth)**-0.5)], x.shape)
    return net.add("Add", [x, y], x.shape)


def recurrent(net):
    """A recurrent layer over a first dimension of fixed length."""
    x = net.any(lambda value: value.is_float() and value.rank == 3 and value.is_fixed(0) and value.is_fixed(2)
                and value.shape[0] <= 24)
    length, batch, width = x.shape
    op, gates = net.pick(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    hidden, direction = net.pick(3, 4, 8), net.pick("forward", "reverse", "bidirectional")
    d = 2 if direction == "bidirectional" else 1
    inputs = [x, net.weight(d, gates * hidden, width, scale=width**-0.5), net.weight(d, gates * hidden, hidden, scale=hidden**-0.5)]
    if net.chance(0.5):
        inputs.append(net.weight(d, 2 * gates * hidden, scale=0.3))
    attributes = {"linear_before_reset": net.pick(0, 1)} if op == "GRU" else {}
    types = [([length, d, batch, hidden], np.float32), ([d, batch, hidden], np.float32)]
    return net.add_all(op, inputs, types, hidden_size=hidden, direction=direction, **attributes)


def quantized(net, x, signed=None, scale=None):
    """A value after QuantizeLinear, and its scale and zero point."""
    kind = net.pick(np.int8, np.uint8) if signed is None else np.int8 if signed else np.uint8
    zero = net.constant(0 if net.chance(0.5) else net.random.randint(-5, 5) if kind == np.int8 else net.random.randint(100, 140), kind)
    scale = net.constant(scale or net.random.uniform(0.01, 0.05), np.float32)
    net.is_quantized = True
    return net.add("QuantizeLinear", [x, scale, zero], x.shape, kind), scale, zero


def quantize_and_back(net, x=None):
    x = x or net.any()
    q, scale, zero = quantized(net, x)
    return net.add("DequantizeLinear", [q, scale, zero], x.shape)


def stored_int8(net, shape, axis):
    """Weights as int8, with a scale for each channel or for all of them, after DequantizeLinear."""
    values = net.constant(net.numpy.integers(-127, 128, shape), np.int8)
    per_channel = net.chance(0.7)
    most = 0.02 / np.sqrt(max(1, np.prod(shape) / shape[axis]))
    sizes = net.numpy.uniform(most / 3, most, shape[axis] if per_channel else [])
    scale = net.stored("w", np.float32(sizes))  # changed, so that roundings of the product are estimated
    zero = net.constant(np.zeros(sizes.shape if per_channel else []), np.int8)
    return net.add("DequantizeLinear", [values, scale, zero], shape, **({"axis": axis} if per_channel else {})), scale


def qdq_conv(net):
    if net.opset < 13:
        raise Unsuitable
    x = net.any(lambda value: value.is_image() and value.rank == 4)
    x = quantize_and_back(net, x)
    channels, groups, kernel = x.shape[1], net.pick(1, 1, 1, x.shape[1]), net.pick(1, 3, 3)
    to = channels if groups > 1 else net.pick(8, 16, 20, 32, 64, 128)
    weights, _ = stored_int8(net, [to, channels // groups, kernel, kernel], 0)
    inputs = [x, weights]
    if net.chance(0.7):
        scale = net.stored("w", np.float32(net.numpy.uniform(0.0005, 0.002, to)))
        bias = net.constant(net.numpy.integers(-200, 200, to), np.int32)
        inputs.append(net.add("DequantizeLinear", [bias, scale, net.constant(np.zeros(to), np.int32)], [to], axis=0))
    y = net.add("Conv", inputs, [x.shape[0], to, *x.shape[2:]], group=groups, pads=[kernel // 2] * 4)
    if net.chance(0.6):
        y = net.add("Relu", [y], y.shape)
    return quantize_and_back(net, y)


def qdq_matmul(net):
    if net.opset < 13:
        raise Unsuitable
    x = quantize_and_back(net, net.any(is_matrix))
    n = net.pick(4, 10, 16, 32, 64, 96)
    weights, _ = stored_int8(net, [x.shape[-1], n], 1)
    return quantize_and_back(net, net.add("MatMul", [x, weights], [*x.shape[:-1], n]))


def integer_product(net):
    x = net.any(lambda value: is_matrix(value) and value.rank == 2)
    n = net.pick(4, 10, 16, 64)
    weights = net.constant(net.numpy.integers(-60, 60, [x.shape[1], n]), np.int8)
    if net.chance(0.5):
        q, _, zero = quantized(net, x, signed=False)
        y = net.add("MatMulInteger", [q, weights, zero], [x.shape[0], n], np.int32)
        return net.add("Mul", [net.add("Cast", [y], y.shape, to=1), net.constant(0.001, np.float32)], y.shape)
    q, scale, zero = quantized(net, x, signed=False)
    out_scale, out_zero = net.constant(net.random.uniform(0.02, 0.06), np.float32), net.constant(net.pick(0, 128), np.uint8)
    weight_scale, weight_zero = net.constant(0.01, np.float32), net.constant(0, np.int8)
    y = net.add("QLinearMatMul", [q, scale, zero, weights, weight_scale, weight_zero, out_scale, out_zero], [x.shape[0], n],
                np.uint8)
    return net.add("DequantizeLinear", [y, out_scale, out_zero], y.shape)


def qlinear_conv(net):
    x = net.any(lambda value: value.is_image() and value.rank == 4)
    q, scale, zero = quantized(net, x, signed=False)
    to, kernel = net.pick(4, 8, 16, 64), net.pick(1, 3)
    weights = net.constant(net.numpy.integers(-60, 60, [to, x.shape[1], kernel, kernel]), np.int8)
    weight_scale = net.constant(net.numpy.uniform(0.002, 0.01, to), np.float32)
    out_scale, out_zero = net.constant(net.random.uniform(0.02, 0.06), np.float32), net.constant(net.pick(0, 128), np.uint8)
    y = net.add("QLinearConv", [q, scale, zero, weights, weight_scale, net.constant(np.zeros(to), np.int8), out_scale, out_zero],
                [x.shape[0], to, *x.shape[2:]], np.uint8, pads=[kernel // 2] * 4)
    return net.add("DequantizeLinear", [y, out_scale, out_zero], y.shape)


OPERATORS = [(matmul, 3), (self_product, 1), (gemm, 1.5), (einsum, 0.7), (attention, 1), (recurrent, 0.7), (quantize_and_back, 0.6),
             (qdq_conv, 1.5), (qdq_matmul, 0.7), (integer_product, 0.5), (qlinear_conv, 0.5)]
