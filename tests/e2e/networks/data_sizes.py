"""Networks whose results are as long as data say: what conditions select, and what detectors find."""
import numpy as np
from onnx import TensorProto, helper
from open_sizes import Net, case


def full(shape, value=0):
    return np.full(shape, value, np.float32)


def boxes(seed, count, images=1):
    random = np.random.default_rng(seed)
    corners = random.random((images, count, 2), dtype=np.float32) * 4
    return np.concatenate([corners, corners + random.random((images, count, 2), dtype=np.float32) * 3], axis=2)


def scores(seed, *shape):
    return np.random.default_rng(seed).random(shape, dtype=np.float32)


@case([(3, 5)], [(1, 1)], [(7, 11)], [full((2, 3))], [full((2, 3), 1)])
def places(net):
    """torch.nonzero(x > 0), the elements there, and how many there are."""
    x = net.input("x", ["N", "M"])
    found = net.op("NonZero", net.op("Greater", x, net.constant(np.float32(0))))
    rows = net.op("Transpose", found, perm=[1, 0])
    values = net.op("GatherND", x, rows)
    return net.model(found, rows, net.op("Mul", values, values), net.op("Shape", rows))


@case([(7, 4)], [(1, 4)], [(13, 4)], [full((5, 4), -1)])
def rows_kept(net):
    """x[x[:, 0] > 0], its sum, mean and maximum, the greatest three, and softmax over what is kept."""
    x = net.input("x", ["N", 4])
    first = net.op("Squeeze", net.slice(x, net.ints(0), net.ints(1), 1), net.ints(1))
    y = net.op("Compress", x, net.op("Greater", first, net.constant(np.float32(0))), axis=0)
    norm = net.op("Sqrt", net.op("ReduceSum", net.op("Mul", y, y), net.ints(1), keepdims=1))
    first_three = net.op("Min", net.size(y, 0), net.ints(3))
    value, index = net.op("TopK", norm, first_three, count=2, axis=0)
    return net.model(y, net.op("ReduceSum", y, net.ints(0), keepdims=0), net.op("Div", y, norm),
                     net.op("Softmax", y, axis=0), value, index, net.op("MatMul", y, net.weight(4, 3)),
                     net.op("MatMul", net.op("Transpose", y, perm=[1, 0]), y))


@case([(3, 5)], [(1, 1)], [(7, 11)], [full((2, 3))], [full((2, 3), 1)])
def counts(net):
    """What a graph computes from the shape of what it found: the counts of the call, not the most there may be."""
    x = net.input("x", ["N", "M"])
    found = net.op("NonZero", net.op("Greater", x, net.constant(np.float32(0))))
    count = net.op("Gather", net.op("Shape", found), net.constant(np.int64(1)))
    rows = net.op("Transpose", found, perm=[1, 0])
    values = net.op("GatherND", x, rows)
    mean = net.op("Div", net.op("ReduceSum", values, keepdims=0),
                  net.op("Add", net.op("Cast", count, to=TensorProto.FLOAT), net.constant(np.float32(1))))
    numbers = net.op("Range", net.constant(np.int64(0)), count, net.constant(np.int64(1)))
    twos = net.op("Expand", net.constant(np.int64(2)), net.op("Shape", found))
    first = net.slice(found, net.ints(1), net.ints(2**31), 1)
    return net.model(count, net.op("Size", found), mean, numbers, net.op("Add", twos, found), net.op("Shape", first),
                     net.op("Shape", net.op("Concat", found, found, axis=1)), net.op("Shape", rows, start=0, end=1))


@case([(7, 4)], [(1, 4)], [(13, 4)], [full((5, 4), -1)])
def rows_joined(net):
    """Rows that are kept beside and behind others, padded, and cut."""
    x = net.input("x", ["N", 4])
    first = net.op("Squeeze", net.slice(x, net.ints(0), net.ints(1), 1), net.ints(1))
    y = net.op("Compress", x, net.op("Greater", first, net.constant(np.float32(0))), axis=0)
    z = net.op("Compress", x, net.op("Less", first, net.constant(np.float32(0))), axis=0)
    both = net.op("Concat", y, x, z, axis=0)
    beside = net.op("Concat", y, net.op("Exp", y), axis=1)
    zero = net.ints(0)
    padded = net.op("Pad", y, net.joined(net.ints(1), zero, net.ints(2), zero), net.constant(np.float32(7)))
    few = net.slice(y, net.ints(1), net.ints(3), 0)
    return net.model(both, beside, padded, few, net.op("CumSum", y, net.constant(np.int64(0))))


@case([boxes(1, 9), scores(2, 1, 2, 9)], [boxes(3, 1), scores(4, 1, 2, 1)], [boxes(5, 40, 2), scores(6, 2, 2, 40)],
      [boxes(7, 6), full((1, 2, 6))])
def detections(net):
    """What detectors end with: boxes, classes and scores of what is left, [K, 6]."""
    all_boxes, all_scores = net.input("boxes", ["B", "N", 4]), net.input("scores", ["B", 2, "N"])
    left = net.op("NonMaxSuppression", all_boxes, all_scores, net.ints(5), net.constant(np.array([0.3], np.float32)),
                  net.constant(np.array([0.25], np.float32)))
    image, label, place = (net.op("Gather", left, net.ints(i), axis=1) for i in range(3))
    box = net.op("GatherND", all_boxes, net.op("Concat", image, place, axis=1))
    score = net.op("GatherND", all_scores, left)
    found = net.op("Concat", box, net.op("Unsqueeze", score, net.ints(1)), net.op("Cast", label, to=1), axis=1)
    return net.model(left, found)


@case([boxes(1, 9), scores(2, 1, 1, 9), np.array([3], np.int64)], [boxes(3, 30), scores(4, 1, 1, 30), np.array([100], np.int64)],
      [boxes(5, 6), scores(6, 1, 1, 6), np.array([0], np.int64)])
def limited_detections(net):
    """Boxes by their centers, and a limit that is an input."""
    left = net.op("NonMaxSuppression", net.input("boxes", [1, "N", 4]), net.input("scores", [1, 1, "N"]),
                  net.input("limit", [1], "i"), net.constant(np.array([0.5], np.float32)), center_point_box=1)
    return net.model(left)


@case([(2, 9), np.array([4], np.int64)], [(1, 3), np.array([3], np.int64)], [(3, 5), np.array([0], np.int64)])
def first_few(net):
    """As many of the greatest elements as an input says."""
    value, index = net.op("TopK", net.input("x", ["N", "M"]), net.input("k", [1], "i"), count=2)
    return net.model(value, index)


@case([np.array([4, 2, 4, 1, 2, 4], np.int64)], [np.array([7], np.int64)], [np.array([3, 3, 3], np.int64)])
def distinct(net):
    ids = net.input("ids", ["N"], "i")
    return net.model(*net.op("Unique", ids, count=4), *net.op("Unique", ids, count=4, sorted=0))


def body_of(inputs, build, prefix="body_"):
    """The body of a Loop: its inputs are the iteration, the condition and states of these types and shapes; `build`
    returns the condition, the states and what is stacked. Other names are the network's."""
    net = Net()
    names = [net.input("iteration", [], "i"), "condition"]
    net.inputs.append(helper.make_tensor_value_info("condition", TensorProto.BOOL, []))
    names += [net.input(f"state{i}", shape, kind) for i, (kind, shape) in enumerate(inputs)]
    outputs = build(net, *names)
    infos = [helper.make_empty_tensor_value_info(name) for name in outputs]
    own = set(names) | {name for node in net.nodes for name in node.output} | {weight.name for weight in net.weights}
    for node in net.nodes:
        node.input[:] = [prefix + name if name in own else name for name in node.input]
        node.output[:] = [prefix + name for name in node.output]
    for info in [*net.inputs, *infos, *net.weights]:
        info.name = prefix + info.name
    return helper.make_graph(net.nodes, prefix + "graph", net.inputs, infos, net.weights)


def doubling(net, iteration, condition, x):
    """Doubles x until its sum is no longer below the limit, a tensor of the network."""
    twice = net.op("Add", x, x)
    return net.op("Less", net.op("ReduceSum", twice, keepdims=0), "limit"), twice, twice


@case([full((3,), 1), np.array(100, np.float32)], [full((3,), 1), np.array(1e30, np.float32)],
      [full((5,), 1), np.array(0, np.float32)], [full((1,), 1), np.array(3, np.float32)])
def stacked_until(net):
    """A Loop that its body ends; what it stacks is as long as iterations ran, and more is computed from that."""
    x, limit = net.input("x", ["N"]), net.input("limit", [])
    last, all_of_them = net.op("Loop", net.constant(np.int64(20)), net.constant(np.array(True)), x, count=2,
                               body=body_of([("f", ["N"])], doubling))
    return net.model(last, all_of_them, net.op("ReduceSum", all_of_them, net.ints(0), keepdims=0),
                     net.op("Shape", all_of_them), net.op("Sqrt", all_of_them))


@case([full((3,), 1), np.array(100, np.float32)], [full((3,), 1), np.array(2, np.float32)],
      [full((3,), 1), np.array(4, np.float32)], [full((2,), 1), np.array(1e9, np.float32)])
def until_without_bound(net):
    """A Loop that is given a condition alone, which may be false at the beginning."""
    x, limit = net.input("x", ["N"]), net.input("limit", [])
    first = net.op("Less", net.op("ReduceSum", x, keepdims=0), limit)

    def step(inner, iteration, condition, state, count):
        goes_on, twice, _ = doubling(inner, iteration, condition, state)
        return goes_on, twice, inner.op("Add", count, iteration)
    most = net.constant(np.int64(2**63 - 1))
    return net.model(*net.op("Loop", most, first, x, net.constant(np.int64(0)), count=2,
                             body=body_of([("f", ["N"]), ("i", [])], step)),
                     *net.op("Loop", "", first, x, net.constant(np.int64(0)), count=2,
                             body=body_of([("f", ["N"]), ("i", [])], step, "other_")))


@case([(4,), np.array([3], np.int64)], [(4,), np.array([0], np.int64)], [(4,), np.array([-2], np.int64)],
      [(4,), np.array([100], np.int64)])
def as_often_as_said(net):
    """Loops whose trip count is an input, with and without a condition."""
    x, count = net.input("x", [4]), net.input("count", [1], "i")

    def halved(inner, iteration, condition, state):
        return inner.op("Identity", condition), inner.op("Mul", state, inner.constant(np.float32(0.5)))

    def halved_twice(inner, iteration, condition, state):
        return inner.op("Less", iteration, inner.constant(np.int64(1))), halved(inner, iteration, condition, state)[1]
    state = [("f", [4])]
    no_condition = net.op("Loop", count, "", x, body=body_of(state, halved))
    twice_at_most = net.op("Loop", count, net.constant(np.array(True)), x, body=body_of(state, halved_twice, "other_"))
    return net.model(no_condition, twice_at_most)


@case([np.arange(1, 13, dtype=np.int64)], [np.array([1], np.int64)], [np.array([27, 1, 97], np.int64)])
def collatz(net):
    """The numbers of steps until each number has become 1: a Loop that its body ends, in a Loop over numbers."""
    numbers = net.input("numbers", ["N"], "i")

    def step(inner, iteration, condition, n, steps):
        two, one = inner.constant(np.int64(2)), inner.constant(np.int64(1))
        is_odd = inner.op("Equal", inner.op("Mod", n, two), one)
        tripled = inner.op("Add", inner.op("Mul", n, inner.constant(np.int64(3))), one)
        following = inner.op("Where", is_odd, tripled, inner.op("Div", n, two))
        return inner.op("Less", one, following), following, inner.op("Add", steps, one)

    def each(outer, iteration, condition):
        n = outer.op("Gather", "numbers", iteration)
        one, zero = outer.constant(np.int64(1)), outer.constant(np.int64(0))
        _, steps = outer.op("Loop", "", outer.op("Less", one, n), n, zero, count=2,
                            body=body_of([("i", []), ("i", [])], step, "inner_"))
        return outer.op("Identity", condition), steps
    count = net.op("Squeeze", net.op("Shape", numbers), net.ints(0))
    return net.model(net.op("Loop", count, "", body=body_of([], each, "each_")))


@case([boxes(1, 9), full((1, 2, 9), 0.1)], [boxes(5, 40, 2), full((2, 2, 40), 0.5)],
      [np.tile(boxes(7, 1), (1, 33, 1)), scores(8, 1, 2, 33)],
      [np.concatenate([boxes(9, 20), boxes(9, 20)], 1), np.tile(scores(10, 1, 2, 20), (1, 1, 2))])
def early_detections(net):
    """No candidate, equal scores, one box that suppresses all others, and pairs of the same boxes."""
    left = net.op("NonMaxSuppression", net.input("boxes", ["B", "N", 4]), net.input("scores", ["B", 2, "N"]),
                  net.ints(100), net.constant(np.array([0.4], np.float32)), net.constant(np.array([0.25], np.float32)))
    return net.model(left)


def scattered(seed, candidates, number=2100):
    """Scores of 3 classes of boxes, of which so many are above 0.25 in each class, and several are equal."""
    random = np.random.default_rng(seed)
    values = np.zeros((1, 3, number), np.float32)
    for row, count in zip(values[0], candidates):
        row[random.choice(number, count, replace=False)] = 0.3 + random.integers(0, 50, count) / np.float32(100)
    return values


@case([boxes(1, 2100), scattered(2, (40, 0, 512))], [boxes(3, 2100), scattered(4, (0, 0, 0))],
      [boxes(5, 2100), scattered(6, (513, 7, 1))], [boxes(7, 2100), scattered(8, (2100, 2100, 2100))])
def detections_of_many(net):
    """So many boxes that the candidates, where they are few, are moved together first."""
    left = net.op("NonMaxSuppression", net.input("boxes", [1, 2100, 4]), net.input("scores", [1, 3, 2100]), net.ints(30),
                  net.constant(np.array([0.4], np.float32)), net.constant(np.array([0.25], np.float32)))
    return net.model(left)


def coarse(seed, *shape):
    """Scores of which many are equal."""
    return (np.random.default_rng(seed).integers(0, 40, shape) / np.float32(40)).astype(np.float32)


@case([boxes(1, 700), coarse(2, 1, 3, 700)], [boxes(3, 700, 2), coarse(4, 2, 3, 700)],
      [np.tile(boxes(5, 7), (1, 100, 1)), scores(6, 1, 3, 700)], [boxes(7, 700), full((1, 3, 700))])
def detections_by_blocks(net):
    """So many candidates that blocks of them are suppressed, one after the other; without a threshold, all boxes are candidates."""
    all_boxes, all_scores = net.input("boxes", ["B", 700, 4]), net.input("scores", ["B", 3, 700])

    def left(limit, overlap, *threshold):
        return net.op("NonMaxSuppression", all_boxes, all_scores, net.ints(limit), net.constant(np.array([overlap], np.float32)),
                      *(net.constant(np.array([one], np.float32)) for one in threshold))
    return net.model(left(200, 0.6, 0.25), left(2**63 - 1, 0.3, 0.5), left(3, 0.9))


@case([boxes(1, 900), scattered(2, (40, 0, 300), 900)], [boxes(3, 33), scattered(4, (0, 2, 0), 33)],
      [boxes(5, 2100, 2), np.concatenate([scattered(6, (100, 7, 150)), scattered(7, (0, 70, 185))])],
      [boxes(5, 2100, 2), np.concatenate([scattered(6, (100, 7, 150)), scattered(7, (0, 70, 186))])])
def detections_of_any(net):
    """An open number of boxes and images, in which 512 candidates are a list and 513 are not."""
    left = net.op("NonMaxSuppression", net.input("boxes", ["B", "N", 4]), net.input("scores", ["B", 3, "N"]), net.ints(30),
                  net.constant(np.array([0.4], np.float32)), net.constant(np.array([0.25], np.float32)))
    return net.model(left)


@case([boxes(1, 2100), coarse(2, 1, 3, 2100)], [boxes(3, 700, 2), coarse(4, 2, 3, 700)],
      [np.tile(boxes(5, 40), (1, 100, 1)), np.tile(coarse(6, 1, 3, 40), (1, 1, 100))], [boxes(7, 5), coarse(8, 1, 3, 5)],
      [boxes(9, 1921), np.linspace(1, 0.3, 3 * 1921, dtype=np.float32).reshape(1, 3, 1921)])
def detections_by_blocks_of_any(net):
    """More candidates than a list has room for among an open number of boxes, many of them with equal scores."""
    left = net.op("NonMaxSuppression", net.input("boxes", ["B", "N", 4]), net.input("scores", ["B", 3, "N"]), net.ints(200),
                  net.constant(np.array([0.6], np.float32)), net.constant(np.array([0.25], np.float32)))
    return net.model(left)
