"""Random operators that move elements: shapes, pieces, and indices."""
import numpy as np

from net import Unsuitable


def concat(net):
    x = net.any(lambda value: value.is_float() and value.fixed_axes())
    axis = net.random.choice(x.fixed_axes())

    def fits(value):
        return value.is_float() and value.rank == x.rank and value.is_fixed(axis) and all(
            a == axis or value.shape[a] == x.shape[a] and value.is_fixed(a) == x.is_fixed(a) for a in range(x.rank))

    parts = [x] + [net.any(fits) for _ in range(net.pick(1, 1, 2))]
    net.random.shuffle(parts)
    shape = [sum(part.shape[axis] for part in parts) if a == axis else size for a, size in enumerate(x.shape)]
    return net.add("Concat", parts, shape, axis=axis - x.rank * net.pick(0, 1))


def split(net):
    x = net.any(lambda value: value.is_float() and value.fixed_axes(2))
    axis = net.random.choice(x.fixed_axes(2))
    size, parts = x.shape[axis], []
    while sum(parts) < size:
        parts.append(net.random.randint(1, size - sum(parts)))
        if len(parts) == 3:
            parts[-1] = size - sum(parts[:-1])
    types = [([part if a == axis else s for a, s in enumerate(x.shape)], np.float32) for part in parts]
    if net.opset >= 13:
        return net.add_all("Split", [x, net.integers(parts)], types, axis=axis)
    return net.add_all("Split", [x], types, axis=axis, split=parts)


def slice_of(net):
    x = net.any(lambda value: value.is_float() and value.fixed_axes())
    axes = net.random.sample(x.fixed_axes(), net.random.randint(1, len(x.fixed_axes())))
    starts, ends, steps, shape = [], [], [], list(x.shape)
    for axis in axes:
        size = x.shape[axis]
        step = net.pick(1, 1, 1, 2, 3, -1, -2)
        first, last = sorted([net.random.randrange(size), net.random.randrange(size)])
        if step > 0:
            start, end = first, net.pick(last + 1, last + 1, 2**63 - 1, last - size) if last != size - 1 else 2**31 - 1
            stop = last + 1 if end == last + 1 else size if end > size else end + size
        else:
            start, end = last, first - 1 if first > 0 else -(2**62)
            stop = first - 1
        count = len(range(start, stop, step))
        if count < 1:
            raise Unsuitable
        starts.append(start)
        ends.append(end)
        steps.append(step)
        shape[axis] = count
    inputs = [x, net.integers(starts), net.integers(ends), net.integers(axes), net.integers(steps)]
    return net.add("Slice", inputs, shape)


def transpose(net):
    x = net.any(lambda value: value.is_float() and value.rank > 1)
    order = list(range(x.rank))
    net.random.shuffle(order)
    if net.chance(0.1):
        return net.add("Transpose", [x], x.shape[::-1])
    return net.add("Transpose", [x], [x.shape[axis] for axis in order], perm=order)


def factors(net, number, parts):
    shape = []
    for _ in range(parts - 1):
        shape.append(net.random.choice([d for d in range(1, number + 1) if number % d == 0]))
        number //= shape[-1]
    return [*shape, number]


def reshape(net):
    """A first dimension stays as it is if it is open; of the others any shape of as many elements."""
    x = net.any(lambda value: value.is_float() and value.rank > 0 and all(value.is_fixed(a) for a in range(1, value.rank)))
    keeps = not x.is_fixed(0) or net.chance(0.4)
    rest = x.shape[1:] if keeps else x.shape
    shape = factors(net, int(np.prod(rest)), net.pick(1, 2, 3, 4))
    target = list(shape)
    if net.chance(0.5):
        target[net.random.randrange(len(target))] = -1
    if keeps:
        shape, target = [x.shape[0], *shape], [0, *target]
    return net.add("Reshape", [x, net.integers(target)], shape)


def reshape_by_shape(net):
    """As exporters write a view of the batch's size: Shape, Gather, Unsqueeze, Concat, Reshape."""
    x = net.any(lambda value: value.is_float() and value.rank > 1 and all(value.is_fixed(a) for a in range(1, value.rank)))
    size = net.add("Gather", [net.add("Shape", [x], [x.rank], np.int64), net.constant(0, np.int64)], [], np.int64, axis=0)
    if net.opset >= 13:
        size = net.add("Unsqueeze", [size, net.integers([0])], [1], np.int64)
    else:
        size = net.add("Unsqueeze", [size], [1], np.int64, axes=[0])
    target = net.add("Concat", [size, net.integers([-1])], [2], np.int64, axis=0)
    return net.add("Reshape", [x, target], [x.shape[0], int(np.prod(x.shape[1:]))])


def sizes(net):
    """Sizes as a tensor, and what is computed from them, as integers or as floats."""
    x = net.any(lambda value: value.rank > 0)
    y = net.add("Shape", [x], [x.rank], np.int64)
    for _ in range(net.random.randint(0, 3)):
        op, by = net.pick(("Sub", [5]), ("Mul", [-3]), ("Add", [7]), ("Div", [2]), ("Mod", [3]), ("Max", [4]), ("Min", [2]))
        y = net.add(op, [y, net.integers(by)], y.shape, np.int64)
    if net.chance(0.3):
        y = net.add(net.pick("Abs", "Neg", "Sign"), [y], y.shape, np.int64)
    if net.chance(0.5):
        y = net.add("Cast", [y], y.shape, np.float32, to=1)
    return y


def flatten(net):
    x = net.any(lambda value: value.is_float() and value.rank > 1 and all(value.is_fixed(a) for a in range(1, value.rank)))
    axis = 1 if not x.is_fixed(0) else net.random.randint(0, x.rank)
    first = x.shape[0] if axis == 1 else int(np.prod(x.shape[:axis]))
    return net.add("Flatten", [x], [first, int(np.prod(x.shape[axis:]))], axis=axis)


def unsqueeze(net):
    x = net.any(lambda value: value.is_float() and value.rank < 5)
    axis = net.random.randint(0, x.rank)
    shape = [*x.shape[:axis], 1, *x.shape[axis:]]
    if net.opset >= 13:
        return net.add("Unsqueeze", [x, net.integers([axis])], shape)
    return net.add("Unsqueeze", [x], shape, axes=[axis])


def squeeze(net):
    x = net.any(lambda value: value.is_float() and any(value.is_fixed(a) and value.shape[a] == 1 for a in range(value.rank)))
    axis = net.random.choice([a for a in range(x.rank) if x.is_fixed(a) and x.shape[a] == 1])
    shape = [*x.shape[:axis], *x.shape[axis + 1:]]
    if net.opset >= 13:
        return net.add("Squeeze", [x, net.integers([axis])], shape)
    return net.add("Squeeze", [x], shape, axes=[axis])


def expand(net):
    x = net.any(lambda value: value.is_float() and all(value.is_fixed(a) for a in range(value.rank)))
    shape = [net.pick(2, 3) if size == 1 else size for size in x.shape]
    shape = [net.pick(1, 2, 3)] * net.pick(0, 0, 1) + shape
    return net.add("Expand", [x, net.integers(shape)], shape)


def tile(net):
    x = net.any(lambda value: value.is_float() and value.rank > 0)
    repeats = [net.pick(1, 1, 2, 3) if x.is_fixed(a) else 1 for a in range(x.rank)]
    return net.add("Tile", [x, net.integers(repeats)], [size if r == 1 else size * r for size, r in zip(x.shape, repeats)])


def pad(net):
    x = net.any(lambda value: value.is_float() and value.rank > 0)
    mode = net.pick("constant", "constant", "reflect", "edge")
    most = [0 if not x.is_fixed(a) else x.shape[a] - 1 if mode == "reflect" else 3 for a in range(x.rank)]
    before, after = ([net.random.randint(0, min(3, m)) * net.pick(0, 1) for m in most] for _ in range(2))
    if mode == "constant" and net.chance(0.3):
        before = [-1 if x.is_fixed(a) and x.shape[a] > 2 else p for a, p in enumerate(before)]
    shape = [size if b == a == 0 else size + b + a for size, b, a in zip(x.shape, before, after)]
    inputs = [x, net.integers(before + after)]
    if mode == "constant" and net.chance(0.5):
        inputs.append(net.constant(net.pick(0, -1.5, 7), np.float32))
    return net.add("Pad", inputs, shape, mode=mode)


def gather(net):
    x = net.any(lambda value: value.is_float() and value.fixed_axes())
    axis = net.random.choice(x.fixed_axes())
    size, shape = x.shape[axis], net.pick([], [1], [3], [2, 2])
    indices = net.constant(net.numpy.integers(-size, size, shape), net.pick(np.int32, np.int64))
    return net.add("Gather", [x, indices], [*x.shape[:axis], *shape, *x.shape[axis + 1:]], axis=axis)


def gather_elements(net):
    x = net.any(lambda value: value.is_float() and value.rank > 0 and len(value.fixed_axes()) == value.rank)
    axis = net.random.randrange(x.rank)
    shape = [net.random.randint(1, 5) if a == axis else net.random.randint(1, size) for a, size in enumerate(x.shape)]
    indices = net.integers(net.numpy.integers(-x.shape[axis], x.shape[axis], shape))
    return net.add("GatherElements", [x, indices], shape, axis=axis)


def scatter(net):
    x = net.any(lambda value: value.is_float() and value.rank > 0 and len(value.fixed_axes()) == value.rank)
    axis = net.random.randrange(x.rank)
    shape = [net.random.randint(1, size) for size in x.shape]
    lines = net.numpy.permuted(np.broadcast_to(np.arange(x.shape[axis]).reshape(
        [-1 if a == axis else 1 for a in range(x.rank)]), [x.shape[axis] if a == axis else s for a, s in enumerate(shape)]),
        axis=axis)
    indices = np.take(lines, range(shape[axis]), axis=axis)
    return net.add("ScatterElements", [x, net.integers(indices), net.weight(*shape, scale=1)], x.shape, axis=axis)


def triangle(net):
    x = net.any(lambda value: value.is_float() and value.rank > 1 and all(value.is_fixed(a) for a in (-1, -2)))
    if net.opset < 14:
        raise Unsuitable
    return net.add("Trilu", [x, net.constant(net.pick(-1, 0, 1), np.int64)], x.shape, upper=net.pick(0, 1))


OPERATORS = [(concat, 4), (split, 1.5), (slice_of, 2), (transpose, 2.5), (reshape, 2.5), (reshape_by_shape, 0.7), (sizes, 0.4),
             (flatten, 0.7), (unsqueeze, 0.7), (squeeze, 1), (expand, 0.7), (tile, 0.5), (pad, 1.5), (gather, 1),
             (gather_elements, 0.5), (scatter, 0.5), (triangle, 0.4)]
