"""Scans and loops, whose bodies are a few elementwise operators and sometimes a product."""
import numpy as np
from onnx import helper, numpy_helper

FUNCTIONS = ["Tanh", "Sigmoid", "Relu", "Abs", "Neg", "Softsign"]


class Body:
    """The nodes of an iteration."""

    def __init__(self, net):
        self.net, self.nodes, self.weights = net, [], []

    def add(self, op, inputs, **attributes):
        name = self.net.fresh("b")
        self.nodes.append(helper.make_node(op, inputs, [name], name=self.net.fresh("/" + op + "_"), **attributes))
        return name

    def weight(self, *shape):
        name = self.net.fresh("bw")
        scale = 1.0 / max(1, shape[-1]) ** 0.5 if shape else 0.5
        self.weights.append(numpy_helper.from_array(np.asarray(self.net.numpy.normal(0, scale, shape), np.float32), name))
        return name

    def integers(self, values):
        name = self.net.fresh("bi")
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def part(self, name, begin, end, shape):
        """Entries of the last dimension."""
        return self.add("Slice", [name, self.integers([begin]), self.integers([end]), self.integers([len(shape) - 1])])

    def inner(self, names, shape):
        """A value that a loop inside of the body computes."""
        outer, body = self.net.pick(*names), Body(self.net)
        number, go, state = self.net.fresh("i"), self.net.fresh("go"), self.net.fresh("s")
        following = body.add("Tanh", [body.value([state, outer], shape)])
        on, seen = body.add("Identity", [go]), body.value([state, following], shape)
        graph = body.graph([(number, [], np.int64), (go, [], np.bool_), (state, shape, np.float32)],
                           [(on, [], np.bool_), (following, shape, np.float32), (seen, shape, np.float32)])
        last, whole = self.net.fresh("b"), self.net.fresh("b")
        trips = self.integers(self.net.pick(2, 9, 12))
        self.nodes.append(helper.make_node("Loop", [trips, "", self.net.pick(*names)], [last, whole], body=graph,
                                           name=self.net.fresh("/Loop_")))
        first = self.add("Gather", [whole, self.integers(self.net.pick(0, 1))], axis=0)
        return self.add("Add", [last, first])

    def value(self, names, shape):
        """A value of this shape, computed from values that have it."""
        y = self.net.pick(*names)
        for _ in range(self.net.random.randint(1, 4)):
            kind = self.net.pick("unary", "binary", "binary", "scale", "product", "swap")
            if kind == "unary":
                y = self.add(self.net.pick(*FUNCTIONS), [y])
            elif kind == "binary":
                y = self.add(self.net.pick("Add", "Sub", "Mul", "Max"), [y, self.net.pick(*names)])
            elif kind == "swap" and shape and type(shape[-1]) is int and shape[-1] >= 2:
                half = shape[-1] // 2
                parts = [self.part(y, half, shape[-1], shape), self.part(self.net.pick(*names), 0, half, shape)]
                y = self.add("Concat", parts[::self.net.pick(1, -1)], axis=len(shape) - 1)
            elif kind == "product" and len(shape) >= 2 and type(shape[-1]) is int and shape[-1] <= 32:
                y = self.add("MatMul", [y, self.weight(shape[-1], shape[-1])])
            else:
                y = self.add("Mul", [y, self.weight()])
        return y

    def graph(self, inputs, outputs):
        def infos(values):
            return [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)),
                                                  self.net.shape_of_dimensions(shape)) for name, shape, dtype in values]

        return helper.make_graph(self.nodes, "body", infos(inputs), infos(outputs), self.weights)


def first_entry(net, x, axis):
    return net.add("Gather", [x, net.constant(0, np.int64)], [*x.shape[:axis], *x.shape[axis + 1:]], axis=axis)


def outputs_of_body(net, body, states, names, shape):
    """The next states, which are bounded, and up to two further values of the iteration."""
    following = []
    for _ in states:
        if len(states) > 1 and net.chance(0.3):
            following.append(body.add("Identity", [net.pick(*states)]))
        else:
            following.append(body.add("Tanh", [body.value(names, shape)]))
    if net.chance(0.3):
        names = names + [body.inner(names, shape)]
    seen = [body.add("Identity", [net.pick(*names, *following)]) if net.chance(0.2) else body.value(names + following, shape)
            for _ in range(net.random.randint(0 if states else 1, 2))]
    return following, seen


def scan(net):
    x = net.any(lambda value: value.is_float() and value.rank >= 1 and value.fixed_axes() and min(value.fixed_sizes()) <= 24)
    axis = net.random.choice([axis for axis in x.fixed_axes() if x.shape[axis] <= 24])
    length, shape = x.shape[axis], [*x.shape[:axis], *x.shape[axis + 1:]]
    count = net.random.randint(0, 2)
    initial = [first_entry(net, x, axis) for _ in range(count)]
    body = Body(net)
    states, entry = [net.fresh("s") for _ in initial], net.fresh("e")
    following, seen = outputs_of_body(net, body, states, [entry, *states], shape)
    graph = body.graph([(name, shape, np.float32) for name in [*states, entry]],
                       [(name, shape, np.float32) for name in [*following, *seen]])
    axes = [net.random.randint(0, len(shape)) for _ in seen]
    types = [(shape, np.float32)] * count + [([*shape[:a], length, *shape[a:]], np.float32) for a in axes]
    attributes = dict(scan_input_axes=[axis], scan_input_directions=[net.pick(0, 1)])
    if seen:
        attributes |= dict(scan_output_axes=axes, scan_output_directions=[net.pick(0, 1) for _ in seen])
    return net.add_all("Scan", [*initial, x], types, body=graph, num_scan_inputs=1, **attributes)


def loop(net):
    """Runs as often as a dimension of a value says, which may be open, or a fixed number of times."""
    x = net.any(lambda value: value.is_float() and value.rank >= 1)
    axis = net.random.randrange(x.rank)
    trips = x.shape[axis] if net.chance(0.5) else net.pick(1, 3, 9, 17)
    if trips > 24:
        trips = 12
    if trips is x.shape[axis]:
        sizes = net.add("Shape", [x], [x.rank], np.int64)
        count = net.add("Gather", [sizes, net.constant(axis, np.int64)], [], np.int64)
    else:
        count = net.constant(trips, np.int64)
    body = Body(net)
    number, go, states = net.fresh("i"), net.fresh("go"), [net.fresh("s") for _ in range(net.random.randint(1, 3))]
    names = list(states)
    if net.chance(0.5):
        names.append(x.name)  # which the body captures
    if net.chance(0.5):
        names.append(body.add("Add", [states[0], body.add("Cast", [number], to=1)]))
    following, seen = outputs_of_body(net, body, states, names, x.shape)
    on = body.add("Identity", [go])
    graph = body.graph([(number, [], np.int64), (go, [], np.bool_)] + [(name, x.shape, np.float32) for name in states],
                       [(on, [], np.bool_)] + [(name, x.shape, np.float32) for name in [*following, *seen]])
    types = [(x.shape, np.float32)] * len(states) + [([trips, *x.shape], np.float32)] * len(seen)
    condition = net.constant(True, np.bool_) if net.chance(0.5) else None
    return net.add_all("Loop", [count, condition, *[x] * len(states)], types, body=graph)


OPERATORS = [(scan, 1), (loop, 0.7)]
