"""Networks with branches that the call chooses, and loops that their bodies end inside of others."""
import numpy as np
from data_sizes import body_of, full
from onnx import helper
from open_sizes import Net, case


def branch(build, prefix):
    """A branch of an If, whose outputs `build` adds. It reads the network's tensors by their names, which its own do not share."""
    net = Net()
    outputs = build(net)
    own = {name for node in net.nodes for name in node.output} | {weight.name for weight in net.weights}

    def renamed(name):
        return prefix + name if name in own else name

    def rename_read(nodes):
        for node in nodes:
            node.input[:] = [renamed(name) for name in node.input]
            for attribute in node.attribute:
                rename_read(attribute.g.node)
    rename_read(net.nodes)
    for node in net.nodes:
        node.output[:] = [renamed(name) for name in node.output]
    nodes = net.nodes + [helper.make_node("Identity", [renamed(name)], [f"{prefix}out{i}"]) for i, name in enumerate(outputs)]
    for weight in net.weights:
        weight.name = prefix + weight.name
    infos = [helper.make_empty_tensor_value_info(f"{prefix}out{i}") for i in range(len(outputs))]
    return helper.make_graph(nodes, prefix + "graph", [], infos, net.weights)


def choice(net, condition, yes, no, name="", count=1):
    return net.op("If", condition, count=count, then_branch=branch(yes, f"{name}yes_"), else_branch=branch(no, f"{name}no_"))


def is_positive(net, x):
    return net.op("Less", net.constant(np.float32(0)), net.op("ReduceSum", x, keepdims=0))


@case([full((3, 5), 1)], [full((3, 5), -1)], [full((1, 5), 1)], [full((7, 5), -2)])
def chosen(net):
    """torch.cond: two results, of which one is a product in either branch, and one is a tensor of the network in one of them."""
    x = net.input("x", ["N", 5])
    y = net.op("Exp", x)
    first, second = choice(net, is_positive(net, x), lambda inner: [inner.op("MatMul", x, inner.weight(5, 4)), y],
                           lambda inner: [inner.op("Sub", inner.op("MatMul", y, inner.weight(5, 4)), inner.weight(4)),
                                          inner.op("Softmax", x, axis=1)], count=2)
    return net.model(net.op("Relu", first), second, net.op("Add", second, x))


@case([full((2, 3), 1)], [full((2, 3), -1)])
def chosen_as_they_are(net):
    """Branches without nodes: tensors of the network, constants, and the same in both."""
    x = net.input("x", ["N", 3])
    y = net.op("Neg", x)
    outputs = choice(net, is_positive(net, x), lambda inner: [x, inner.constant(np.array([1, 2], np.int64)), x],
                     lambda inner: [y, inner.constant(np.array([3, 4], np.int64)), x], count=3)
    return net.model(*outputs)


@case([full((2, 6), 3)], [full((2, 6), 1)], [full((2, 6), -1)], [full((5, 6), -4)])
def nested(net):
    """A branch inside of a branch, both of which a call may leave out."""
    x = net.input("x", ["N", 6])
    large = net.op("Less", net.constant(np.float32(20)), net.op("ReduceSum", x, keepdims=0))
    small = net.op("Less", net.op("ReduceSum", x, keepdims=0), net.constant(np.float32(-20)))
    y = net.op("Abs", x)

    def yes(inner):
        return [choice(inner, large, lambda deep: [deep.op("Sqrt", y)], lambda deep: [deep.op("Mul", y, y)], "a_")]

    def no(inner):
        return [inner.op("Neg", choice(inner, small, lambda deep: [deep.op("Tanh", x)],
                                       lambda deep: [deep.op("Exp", deep.op("Sub", x, y))], "b_"))]
    return net.model(choice(net, is_positive(net, x), yes, no))


@case([np.array([3, -1, 2, -5, 0.5, 1, -2, -1, -1, 4, 9, -3], np.float32)], [full((1,), 1)], [full((9,), -1)])
def in_a_loop(net):
    """An If in the body of a Loop: each number is added to the state, or halves it."""
    numbers = net.input("numbers", ["N"])
    count = net.op("Squeeze", net.op("Shape", numbers), net.ints(0))

    def step(inner, iteration, condition, state):
        number = inner.op("Gather", numbers, iteration)
        is_added = inner.op("Less", inner.constant(np.float32(0)), number)
        # Names are those that the body gets, of which the branches read some.
        following = inner.op("If", is_added,
                             then_branch=branch(lambda deep: [deep.op("Add", "body_state0", "body_" + number)], "body_yes_"),
                             else_branch=branch(lambda deep: [deep.op("Mul", "body_state0", deep.constant(np.float32(0.5)))],
                                                "body_no_"))
        return inner.op("Identity", condition), following, inner.op("Identity", following)
    return net.model(*net.op("Loop", count, "", net.constant(np.float32(1)), count=2, body=body_of([("f", [])], step)))


@case([full((4, 3), 1)], [full((4, 3), -1)], [full((1, 3), 1)], [full((6, 3), -1)])
def of_other_sizes(net):
    """Results whose sizes differ: as many rows as the batch, none, or one; and what follows of them."""
    x = net.input("x", ["N", 3])
    condition = is_positive(net, x)
    rows = choice(net, condition, lambda inner: [inner.op("Exp", x)], lambda inner: [inner.constant(np.zeros((0, 3), np.float32))])
    one = choice(net, condition, lambda inner: [inner.op("ReduceSum", x, inner.ints(0), keepdims=1)],
                 lambda inner: [inner.op("Concat", x, x, axis=0)], "one_")
    return net.model(rows, one, net.op("ReduceSum", one, net.ints(0), keepdims=0), net.op("Shape", rows))


@case([np.array([[1, -1, 2, 3]], np.float32)], [np.array([[1, -1], [1, -9], [0, 0]], np.float32)], [full((2, 3), -1)])
def selected_in_a_branch(net):
    """Places that a branch counts, or none: as detectors leave out a step where nothing was found."""
    x = net.input("x", ["N", "M"])
    return net.model(choice(net, is_positive(net, x),
                            lambda inner: [inner.op("NonZero", inner.op("Greater", x, inner.constant(np.float32(0))))],
                            lambda inner: [inner.constant(np.zeros((2, 0), np.int64))]))


@case([np.array([5, 0, 2], np.int64)], [np.array([-1, 7, 2], np.int64)], [np.array([7], np.int64)])
def index_of_a_branch(net):
    """A gather whose index is out of bounds in calls that leave the branch out."""
    index = net.input("index", ["N"], "i")
    fits = net.op("And", net.op("Less", net.op("ReduceMax", index, keepdims=0), net.constant(np.int64(6))),
                  net.op("Less", net.constant(np.int64(-1)), net.op("ReduceMin", index, keepdims=0)))
    return net.model(choice(net, fits, lambda inner: [inner.op("ReduceSum", inner.op("Gather", inner.weight(6, 4), index), inner.ints(0))],
                            lambda inner: [inner.constant(np.zeros((1, 4), np.float32))]))


@case([np.arange(1, 12, dtype=np.float32)], [np.array([300], np.float32)], [np.array([0.1, 150, 3], np.float32)])
def stacked_in_a_loop(net):
    """A Loop that its body ends, in a Loop over numbers: what the inner one stacks is summed up in each iteration."""
    numbers = net.input("numbers", ["N"])

    def doubled(inner, iteration, condition, state):
        twice = inner.op("Add", state, state)
        return inner.op("Less", twice, inner.constant(np.float32(100))), twice, inner.op("Identity", twice)

    def each(outer, iteration, condition):
        number = outer.op("Gather", numbers, iteration)
        last, seen = outer.op("Loop", outer.constant(np.int64(20)), outer.op("Less", number, outer.constant(np.float32(200))),
                              number, count=2, body=body_of([("f", [])], doubled, "inner_"))
        whole = outer.op("ReduceSum", seen, outer.ints(0), keepdims=0)
        length = outer.op("Cast", outer.op("Shape", seen), to=1)
        return outer.op("Identity", condition), last, whole, length, outer.op("ReduceMax", outer.op("Concat", seen, outer.op(
            "Unsqueeze", number, outer.ints(0)), axis=0), outer.ints(0), keepdims=0)
    count = net.op("Squeeze", net.op("Shape", numbers), net.ints(0))
    return net.model(*net.op("Loop", count, "", count=4, body=body_of([], each, "each_")))


def squeezed(net, x, name):
    """x.squeeze(2) as torch.onnx writes it where the size is open: the branch that is not meant has another rank."""
    condition = net.op("Equal", net.size(x, 2), net.ints(1))
    return choice(net, condition, lambda inner: [inner.op("Squeeze", x, inner.ints(2))], lambda inner: [inner.op("Identity", x)], name)


def halved(net, x, times):
    for _ in range(times):
        x = net.op("Relu", net.op("Conv", x, net.weight(3, 3, 3), pads=[1, 1], strides=[2]))
    return x


@case([(2, 3, 7)], [(1, 3, 8)], [(3, 3, 1)])
def squeezed_if_one(net):
    """Eight samples or fewer become one, which is removed."""
    x = net.input("x", ["N", 3, "T"])
    return net.model(net.op("MatMul", squeezed(net, halved(net, x, 3), "s"), net.weight(3, 4)))


@case([full((2, 3, 8), 1)], [full((2, 3, 4), -1)], [full((1, 3, 3), -2)], [full((1, 3, 2), 1)])
def squeezed_in_branches(net):
    """Two networks for signals of other lengths, of which the data choose one: it alone needs that what it removes is one."""
    x = net.input("x", ["N", 3, "T"])

    def made(times, name):
        return lambda inner: [inner.op("MatMul", squeezed(inner, halved(inner, x, times), name), inner.weight(3, 4))]
    return net.model(net.op("Neg", choice(net, is_positive(net, x), made(3, "long"), made(2, "short"))))
