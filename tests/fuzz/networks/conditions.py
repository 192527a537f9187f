"""Random networks whose control flow depends on data, compared element by element: If, and Loop that its body ends, inside of each
other; and images of open size sampled by grids. Elements are small whole numbers, so that all results, and so all conditions, are
exact. Batches are open, and so are the sizes of images."""
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

COLUMNS = 4
FUNCTIONS = ["Neg", "Abs", "Relu", "Sign", "Identity"]


class Graph:
    """The nodes of a network, a branch or a body, which sees the values [N, COLUMNS] of these names."""

    def __init__(self, maker, names, depth):
        self.maker, self.names, self.depth, self.nodes, self.weights = maker, list(names), depth, [], []

    def add(self, op, inputs, count=1, **attributes):
        outputs = [self.maker.fresh() for _ in range(count)]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=self.maker.fresh("/" + op), **attributes))
        return outputs[0] if count == 1 else outputs

    def constant(self, value, dtype=np.float32):
        name = self.maker.fresh("c")
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def ints(self, *values):
        return self.constant(values, np.int64)

    def bounded(self, name):
        return self.add("Clip", [name, self.constant(-32), self.constant(32)])

    def condition(self):
        rng = self.maker.rng
        total = self.add(rng.choice(["ReduceSum", "ReduceMax", "ReduceMin"]), [rng.choice(self.names)], keepdims=0)
        limit = self.constant(rng.choice([-6, -1.5, 0.5, 3, 40]))
        return self.add("Less", [limit, total][::rng.choice([1, -1])])

    def simple(self):
        rng = self.maker.rng
        if rng.random() < 0.3:
            return self.add(rng.choice(FUNCTIONS), [rng.choice(self.names)])
        other = rng.choice(self.names) if rng.random() < 0.7 else self.constant(self.maker.numbers.integers(-4, 5, COLUMNS))
        return self.bounded(self.add(rng.choice(["Add", "Sub", "Max", "Min", "Mul"]), [rng.choice(self.names), other]))

    def step(self):
        rng = self.maker.rng
        kind = rng.random() if self.depth < 3 else 1
        self.names.append(self.choice() if kind < 0.3 else self.loop() if kind < 0.5 else self.simple())

    def inner(self, names, steps, outputs):
        """A branch or body; `outputs` adds what it gives, and returns their names."""
        graph = Graph(self.maker, names, self.depth + 1)
        for _ in range(self.maker.rng.randint(0, steps)):
            graph.step()
        return graph, [graph.add("Identity", [name]) for name in outputs(graph)]

    def proto(self, outputs, inputs=()):
        return helper.make_graph(self.nodes, self.maker.fresh("graph"), list(inputs),
                                 [helper.make_empty_tensor_value_info(name) for name in outputs], self.weights)

    def choice(self):
        rng, count = self.maker.rng, self.maker.rng.randint(1, 2)
        condition, is_other_size = self.condition(), rng.random() < 0.3
        if rng.random() < 0.3:
            condition = self.add("Reshape", [condition, self.ints(1)])

        def outputs(graph):
            names = [rng.choice(graph.names) for _ in range(count)]
            if is_other_size and rng.random() < 0.7:
                names[0] = graph.add("Concat", [names[0], rng.choice(graph.names)], axis=0) if rng.random() < 0.5 else graph.add(
                    "Slice", [names[0], graph.ints(0), graph.ints(rng.choice([0, 1])), graph.ints(0)])
            return names
        branches = {}
        for branch in ("then_branch", "else_branch"):
            graph, names = self.inner(self.names, 3, outputs)
            branches[branch] = graph.proto(names)
        results = self.add("If", [condition], count, **branches)
        results = [results] if count == 1 else results
        if is_other_size:
            results[0] = self.bounded(self.add("Add", [rng.choice(self.names), self.add("ReduceSum", [results[0], self.ints(0)])]))
        self.names += results[1:]
        return results[0]

    def loop(self):
        rng, count = self.maker.rng, self.maker.rng.randint(1, 2)
        iteration, go = self.maker.fresh("i"), self.maker.fresh("go")
        states = [self.maker.fresh("s") for _ in range(count)]
        is_stacked = rng.random() < 0.5

        def outputs(graph):
            following = [graph.bounded(graph.add("Add", [state, rng.choice(graph.names)])) for state in states]
            graph.names += following
            goes_on = graph.condition() if rng.random() < 0.8 else go
            return [goes_on, *following, *([rng.choice(graph.names)] if is_stacked else [])]
        graph, names = self.inner([*self.names, *states], 2, outputs)
        inputs = [helper.make_tensor_value_info(iteration, TensorProto.INT64, []),
                  helper.make_tensor_value_info(go, TensorProto.BOOL, [])]
        inputs += [helper.make_tensor_value_info(state, TensorProto.FLOAT, ["N", COLUMNS]) for state in states]
        trips = self.constant(rng.choice([1, 2, 5, 11]), np.int64)
        if rng.random() < 0.3:
            trips = self.add("Gather", [self.add("Shape", [self.names[0]]), self.constant(0, np.int64)])
        # ONNX Runtime gives what a loop without iterations stacks another shape, where that is open.
        first = self.condition() if rng.random() < 0.6 and not is_stacked else self.constant(True, np.bool_)
        results = self.add("Loop", [trips, first, *[rng.choice(self.names) for _ in states]], count + is_stacked,
                           body=graph.proto(names, inputs))
        results = [results] if count + is_stacked == 1 else results
        if is_stacked:
            results[-1] = self.bounded(self.add("ReduceSum", [results[-1], self.ints(0)], keepdims=0))
        self.names += results[1:]
        return results[0]


class Maker:
    def __init__(self, seed):
        self.rng, self.numbers, self.count = random.Random(seed), np.random.default_rng(seed), 0

    def fresh(self, prefix="t"):
        self.count += 1
        return f"{prefix}{self.count}"


def model_of(graph, inputs, outputs):
    proto = graph.proto(outputs, inputs)
    return onnx.helper.make_model(proto, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def branching(maker):
    graph = Graph(maker, ["x", "y"], 0)
    for _ in range(maker.rng.randint(2, 5)):
        graph.step()
    outputs = [graph.add("Identity", [name]) for name in graph.names[-maker.rng.randint(1, 3):] if name not in ("x", "y")]
    graph.nodes.append(helper.make_node("Add", ["x", "y"], ["both"], name="both"))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", COLUMNS]) for name in ("x", "y")]

    def feeds():
        rows = maker.rng.randint(1, 6)
        return {name: maker.numbers.integers(-5, 6, (rows, COLUMNS)).astype(np.float32) for name in ("x", "y")}
    return model_of(graph, infos, [*outputs, "both"]), feeds(), feeds()


def sampling(maker):
    """Places are multiples of 1/32, so that those in the middle of two elements are exact."""
    rng, spatial = maker.rng, maker.rng.choice([2, 2, 3])
    graph = Graph(maker, ["x"], 0)
    modes = ["linear", "nearest"] + (["cubic"] if spatial == 2 else [])
    attributes = dict(mode=rng.choice(modes), padding_mode=rng.choice(["zeros", "border", "reflection"]),
                      align_corners=rng.choice([0, 1]))
    y = graph.add("GridSample", ["x", "places"], **attributes)
    names, channels = ["D", "H", "W"][3 - spatial:], rng.randint(1, 3)
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", channels, *names]),
             helper.make_tensor_value_info("places", TensorProto.FLOAT, ["N", *["A", "B", "C"][:spatial], spatial])]

    def feeds():
        batch, image, places = rng.randint(1, 3), *([rng.randint(1, most) for _ in range(spatial)] for most in (9, 5))
        return {"x": maker.numbers.integers(-8, 9, (batch, channels, *image)).astype(np.float32) / 8,
                "places": maker.numbers.integers(-48, 49, (batch, *places, spatial)).astype(np.float32) / 32}
    proto = graph.proto([y], infos)
    model = onnx.helper.make_model(proto, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return model, feeds(), feeds()


def conditional(seed):
    """The network, and the inputs of two calls of other sizes."""
    maker = Maker(seed)
    return sampling(maker) if maker.rng.random() < 0.25 else branching(maker)
