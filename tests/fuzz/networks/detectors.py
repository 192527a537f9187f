"""Random networks whose results are as long as data say, compared element by element: boxes that overlap better ones are left out
(NonMaxSuppression), elements are chosen (NonZero, Compress, Unique) and read again (Gather). Batches and numbers of boxes are open,
and may be 0."""
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def boxes_of(rng, images, boxes):
    """Corners on a grid so coarse that overlaps are computed exactly."""
    corners = rng.integers(0, 33, (images, boxes, 2, 2)).astype(np.float32)
    corners.sort(axis=2)
    return (corners / 32).reshape(images, boxes, 4)


def suppression(rng, weights, classes):
    limit = rng.choice([0, 1, 3, 10])
    weights += [("limit", np.array([limit], np.int64)), ("overlap", np.array([rng.choice([0.15, 0.45, 0.7])], np.float32)),
                ("least", np.array([rng.choice([-1.0, 0.25, 0.75])], np.float32)), ("column", np.array([2], np.int64))]
    nodes = [helper.make_node("NonMaxSuppression", ["boxes", "scores", "limit", "overlap", "least"], ["found"], name="nms"),
             helper.make_node("Gather", ["found", "column"], ["places"], name="places", axis=1),
             helper.make_node("Gather", ["flat", "places"], ["chosen"], name="chosen", axis=0),
             helper.make_node("Reshape", ["boxes", "rows"], ["flat"], name="flat")]
    weights.append(("rows", np.array([-1, 4], np.int64)))
    return [nodes[0], nodes[3], nodes[1], nodes[2]], ["found", "chosen"]


def selection(rng, weights, classes):
    weights.append(("middle", np.array(0.5, np.float32)))
    nodes = [helper.make_node("Greater", ["scores", "middle"], ["is_high"], name="is_high")]
    kind = rng.choice(["NonZero", "Compress", "Unique", "same"])
    if kind == "NonZero":
        return [*nodes, helper.make_node("NonZero", ["is_high"], ["y"], name="y")], ["y"]
    if kind == "Unique":
        weights.append(("four", np.array(4, np.float32)))
        nodes = [helper.make_node("Mul", ["scores", "four"], ["large"], name="large"),
                 helper.make_node("Floor", ["large"], ["few"], name="few"),
                 helper.make_node("Unique", ["few"], ["y", "", "group", "counts"], name="y", sorted=rng.choice([0, 1]))]
        return nodes, ["y", "group", "counts"]
    weights.append(("all", np.array([-1], np.int64)))
    nodes += [helper.make_node("Reshape", ["is_high", "all"], ["flags"], name="flags"),
              helper.make_node("Reshape", ["scores", "all"], ["values"], name="values"),
              helper.make_node("Compress", ["values", "flags"], ["high"], name="high", axis=0)]
    if kind == "Compress":
        return [*nodes, helper.make_node("ReduceSum", ["high"], ["y"], name="y", keepdims=0)], ["high", "y"]
    # Two results that are equally long, because one condition chose both.
    nodes += [helper.make_node("Neg", ["values"], ["others"], name="others"),
              helper.make_node("Compress", ["others", "flags"], ["low"], name="low", axis=0),
              helper.make_node("Sub", ["high", "low"], ["y"], name="y")]
    return nodes, ["y"]


def detector(seed):
    """The network, and the inputs of two calls of other sizes."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    classes, weights = rng.randint(1, 4), []
    nodes, outputs = rng.choice([suppression, suppression, selection])(rng, weights, classes)
    images = "B" if "chosen" not in outputs else 1
    inputs = [helper.make_tensor_value_info("boxes", TensorProto.FLOAT, [images, "N", 4]),
              helper.make_tensor_value_info("scores", TensorProto.FLOAT, [images, classes, "N"])]
    read = {name for node in nodes for name in node.input}
    graph = helper.make_graph(nodes, "net", [info for info in inputs if info.name in read],
                              [helper.make_empty_tensor_value_info(name) for name in outputs],
                              [numpy_helper.from_array(value, name) for name, value in weights])
    model = onnx.helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def feeds(least):
        batch, boxes = (rng.randint(1, 3) if images == "B" else 1), rng.randint(least, 17)
        scores = numbers.permutation(batch * classes * boxes).reshape(batch, classes, boxes)
        all_of = {"boxes": boxes_of(numbers, batch, boxes),
                  "scores": ((scores + 0.5) / max(1, batch * classes * boxes)).astype(np.float32)}
        return {name: value for name, value in all_of.items() if name in read}

    return model, feeds(1), feeds(0 if rng.random() < 0.5 else 1)
