"""Networks whose results are as long as data say: what conditions select, and what detectors find."""
import numpy as np
from open_sizes import case


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
