"""Random elementwise operators, and those that reduce or normalise along axes."""
import numpy as np

from net import Open

FLOATS = ["Relu", "Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Elu", "Selu", "Softplus", "Softsign", "Erf", "Abs",
          "Neg", "ThresholdedRelu", "Sin", "Cos", "Atan", "Floor", "Ceil", "Round", "Sign", "Identity", "Dropout"]


def broadcast(*shapes):
    rank = max(len(shape) for shape in shapes)
    sizes = zip(*[[1] * (rank - len(shape)) + list(shape) for shape in shapes])
    return [next((size for size in column if size != 1), column[0]) for column in sizes]


def are_broadcastable(x, y):
    """Whether equal dimensions are known to be equal: an open one matches an open one, or 1."""
    for a, b in zip(reversed(x.shape), reversed(y.shape)):
        if isinstance(a, Open) != isinstance(b, Open) and 1 not in (a, b) or a != b and 1 not in (a, b):
            return False
        if isinstance(a, Open) != isinstance(b, Open) and (isinstance(a, Open) and b != 1 or isinstance(b, Open) and a != 1):
            return False
    return True


def unary(net):
    x = net.any()
    ops = FLOATS + ["Celu"] * (net.opset >= 12) + ["HardSwish"] * (net.opset >= 14) + ["Mish"] * (net.opset >= 18) + ["Gelu"] * (net.opset >= 20)
    op, attributes = net.random.choice(ops), {}
    if op == "LeakyRelu":
        attributes["alpha"] = net.pick(0.01, 0.2)
    if op == "Gelu" and net.chance(0.5):
        attributes["approximate"] = "tanh"
    return net.add(op, [x], x.shape, **attributes)


def of_positive(net):
    x = net.positive(net.any())
    return net.add(net.pick("Log", "Sqrt", "Reciprocal"), [x], x.shape)


def exponential(net):
    x = net.any()
    return net.add("Exp", [net.add("Tanh", [x], x.shape)], x.shape)


def clip(net):
    x = net.any()
    low, high = net.constant(net.pick(-1, 0), np.float32), net.constant(net.pick(1, 6), np.float32)
    return net.add("Clip", [x, *net.pick([low, high], [low], [None, high])], x.shape)


def any_weight(net, x):
    """A constant of some of the dimensions of x, which broadcasts with it."""
    shape = [1 if isinstance(size, Open) or net.chance(0.4) else size for size in x.shape]
    while shape and net.chance(0.3):
        shape = shape[1:]
    return net.weight(*shape, scale=0.5)


def other_operand(net, x):
    """A value that broadcasts with x: another value, or a constant of some of its dimensions."""
    others = [value for value in net.values if value.is_float() and are_broadcastable(x, value)]
    if others and net.chance(0.65):
        return net.random.choice(others)
    return any_weight(net, x)


def binary(net):
    x = net.any()
    y = other_operand(net, x)
    op = net.pick("Add", "Add", "Add", "Mul", "Mul", "Sub", "Sub", "Div", "Max", "Min", "Pow")
    if op == "Div":
        y = net.positive(y)
    if op == "Pow":
        x, y = net.pick((x, net.constant(net.pick(2, 3), np.float32)), (net.positive(x), net.constant(0.5, np.float32)))
    pair = [x, y] if net.chance(0.6) or op in ("Div", "Pow") else [y, x]
    return net.add(op, pair, broadcast(x.shape, y.shape))


def variadic(net):
    x = net.any()
    values = [x] + [other_operand(net, x) for _ in range(net.pick(1, 2, 3))]
    values = [value for value in values if value.rank <= x.rank]
    return net.add(net.pick("Sum", "Mean", "Max", "Min"), values, broadcast(*[value.shape for value in values]))


def choose(net):
    x = net.any()
    # Two computed values may be equal but for roundings.
    y = any_weight(net, x)
    shape = broadcast(x.shape, y.shape)
    op = net.pick("Greater", "Less", *["GreaterOrEqual", "LessOrEqual"] * (net.opset >= 16))
    condition = net.add(op, [x, y], shape, np.bool_)
    if net.chance(0.3):
        condition = net.add("Not", [condition], shape, np.bool_)
    if net.chance(0.3):
        return net.add("Cast", [condition], shape, to=1)
    return net.add("Where", [condition, *net.pick([x, y], [y, x])], shape)


def whole_numbers(net):
    """Integer arithmetic on rounded values."""
    x = net.any()
    kind, number = net.pick((np.int32, 6), (np.int64, 7))
    scaled = net.add("Mul", [x, net.constant(3.7, np.float32)], x.shape)
    n = net.add("Cast", [net.add("Floor", [scaled], x.shape)], x.shape, kind, to=number)
    for _ in range(net.pick(1, 2, 3)):
        op = net.pick("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Abs", "Neg")
        if op in ("Abs", "Neg"):
            n = net.add(op, [n], x.shape, kind)
        else:
            n = net.add(op, [n, net.constant(net.pick(1, 2, 3, 7), kind)], x.shape, kind)
    return net.add("Cast", [n], x.shape, to=1)


def some_axes(net, x):
    axes = sorted(net.random.sample(range(x.rank), net.random.randint(1, x.rank)))
    return [axis - x.rank if net.chance(0.3) else axis for axis in axes]


def reduce(net):
    x = net.any(lambda value: value.is_float() and value.rank > 0)
    op = net.pick("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                  "ReduceLogSumExp")
    axes, keeps = some_axes(net, x), net.chance(0.5)
    reduced = {axis % x.rank for axis in axes}
    shape = [1 if axis in reduced else size for axis, size in enumerate(x.shape) if keeps or axis not in reduced]
    if net.opset >= (13 if op == "ReduceSum" else 18):
        return net.add(op, [x, net.integers(axes)], shape, keepdims=int(keeps))
    return net.add(op, [x], shape, axes=axes, keepdims=int(keeps))


def softmax(net):
    x = net.any(lambda value: value.is_float() and value.rank > 0)
    axis = net.random.randrange(x.rank)
    return net.add(net.pick("Softmax", "Softmax", "LogSoftmax"), [x], x.shape, axis=axis - x.rank * net.pick(0, 1))


def layer_norm(net):
    x = net.any(lambda value: value.is_float() and value.rank > 0 and value.is_fixed(value.rank - 1) and value.shape[-1] > 2)
    axis = x.rank - 1
    while axis > 0 and x.is_fixed(axis - 1) and net.chance(0.3):
        axis -= 1
    shape = x.shape[axis:]
    if net.opset < 17:
        mean = net.add("ReduceMean", [x], [*x.shape[:-1], 1], axes=[-1])
        centred = net.add("Sub", [x, mean], x.shape)
        square = net.add("Pow", [centred, net.constant(2, np.float32)], x.shape)
        variance = net.add("ReduceMean", [square], [*x.shape[:-1], 1], axes=[-1])
        root = net.add("Sqrt", [net.add("Add", [variance, net.constant(1e-3, np.float32)], variance.shape)], variance.shape)
        return net.add("Div", [centred, root], x.shape)
    inputs = [x, net.weight(*shape, scale=0.3, positive=True)]
    if net.chance(0.7):
        inputs.append(net.weight(*shape, scale=0.3))
    return net.add("LayerNormalization", inputs, x.shape, axis=axis - x.rank * net.pick(0, 1), epsilon=1e-3)


def cumulative_sum(net):
    x = net.any(lambda value: value.is_float() and value.rank > 0)
    return net.add("CumSum", [x, net.constant(net.random.randrange(x.rank), np.int64)], x.shape, exclusive=net.pick(0, 1),
                   reverse=net.pick(0, 1))


def extremum(net):
    # Computed values may be equal but for roundings, which move an index.
    x = net.any(lambda value: value in net.inputs and value.rank > 0)
    axis, keeps = net.random.randrange(x.rank), net.chance(0.5)
    shape = [1 if a == axis else size for a, size in enumerate(x.shape) if keeps or a != axis]
    return net.add(net.pick("ArgMax", "ArgMin"), [x], shape, np.int64, axis=axis, keepdims=int(keeps))


def top(net):
    x = net.any(lambda value: value.is_float() and value.fixed_axes())
    axis = net.random.choice(x.fixed_axes())
    count = net.random.randint(1, x.shape[axis])
    shape = [count if a == axis else size for a, size in enumerate(x.shape)]
    values, indices = net.add_all("TopK", [x, net.integers([count])], [(shape, np.float32), (shape, np.int64)], axis=axis,
                            largest=net.pick(0, 1))
    if x not in net.inputs:
        net.values.remove(indices)
    return values


OPERATORS = [(unary, 5), (of_positive, 1), (exponential, 0.5), (clip, 1), (binary, 6), (variadic, 1), (choose, 1),
             (whole_numbers, 0.7), (reduce, 2), (softmax, 1.5), (layer_norm, 1.5), (cumulative_sum, 0.5), (extremum, 0.5),
             (top, 0.5)]
