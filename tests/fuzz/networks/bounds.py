"""Estimates the largest difference between two correct computations of a network, by computing it with inputs and weights
that are changed by a few units in the last place, or by more where a small change flips a rounding, a comparison or an index."""
import numpy as np
import onnx
import onnxruntime as ort

EPS = 2.0**-24  # half a unit in the last place of float32
# Errors of all operations of a network together, in units of what one relative change of EPS in all inputs causes.
FACTOR = 500
# Absolute error of ONNX Runtime's sigmoid near 0.
SMALL = 1e-7
# Larger than rounding errors, so that what it causes is not lost among them.
CHANGE = 2.0**-14
# Changes that flip roundings of values near a boundary.
FLIPS = (2.0**-21, 2.0**-18, 2.0**-16)
# The share of the elements of an output that a flip may change although none of the changes above did.
UNSEEN = 0.02


# Operators that divide by how much their inputs differ, so that rounding errors of equal inputs become large, and those
# that add inputs with weights of both signs, so that the errors of what cancels stay. A difference of a tensor and itself
# is the error of a product that is one operation with the subtraction.
CANCELLING = {"LayerNormalization", "InstanceNormalization", "GroupNormalization", "MeanVarianceNormalization", "Resize",
              "GridSample"}
# Functions that are flat for large inputs, so that changes of those do not show the rounding errors of their results.
SATURATING = {"Tanh", "Sigmoid", "Erf"}
# Functions whose results are differences, and so have the errors of numbers near 1 even where they are 0.
DIFFERENCES = {"LogSoftmax"}


def with_noise(model):
    """The model with factors of 1, which may change like weights, behind each DequantizeLinear and each saturating
    function, before each operator whose inputs cancel and each Loop, and on what an iteration of a Loop or Scan hands to
    the next. From the latter, and from results that are differences, what the factor differs from 1 is also subtracted.
    Integers hide from what is computed with them that all of it has rounding errors, as do functions that are flat;
    elements that are copies of one number change alike, while two computations of them may round differently; the weights
    in a Loop's body do not change; and what its iterations cancel, or shrink until it underflows, is 0 whatever its
    first values were changed by."""
    noisy = onnx.ModelProto()
    noisy.CopyFrom(model)
    nodes = noisy.graph.node
    inferred = onnx.shape_inference.infer_shapes(model).graph
    infos = {info.name: info.type.tensor_type for info in [*inferred.value_info, *inferred.input]}

    def ones(name, number, shape):
        weight = np.ones(shape, onnx.helper.tensor_dtype_to_np_dtype(infos[name].elem_type))
        noisy.graph.initializer.append(onnx.numpy_helper.from_array(weight, f"w_noise{number}"))
        return f"w_noise{number}"

    def known_last(dims):
        """The last dimensions whose sizes are known."""
        extents = []
        for dim in reversed(dims):
            if not dim.dim_value:
                break
            extents.insert(0, dim.dim_value)
        return extents

    def known_extents(name):
        return known_last(infos[name].shape.dim if name in infos else [])

    def changed(name, result, where, extents):
        """The nodes that multiply a tensor by a factor of 1 and subtract how much that differs from 1. Adding it instead
        would change the sign of a zero."""
        factor, one = f"w_noise{where}", f"one{where}"
        noisy.graph.initializer.extend([onnx.numpy_helper.from_array(np.ones(extents, np.float32), factor),
                                        onnx.numpy_helper.from_array(np.float32(1), one)])
        return [onnx.helper.make_node("Mul", [name, factor], [f"product{where}"]),
                onnx.helper.make_node("Sub", [factor, one], [f"offset{where}"]),
                onnx.helper.make_node("Sub", [f"product{where}", f"offset{where}"], [result])]

    def change_states(node, where):
        if node.op_type not in ("Loop", "Scan"):
            return
        attributes = {attribute.name: attribute for attribute in node.attribute}
        body = attributes["body"].g
        for number, inner in enumerate(body.node):
            change_states(inner, f"{where}_{number}")
        first, last = (1, len(node.input) - 1) if node.op_type == "Loop" else (
            0, len(node.input) - attributes["num_scan_inputs"].i)
        for which in range(first, last):
            output, place = body.output[which], f"{where}_state{which}"
            if output.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
                extents = known_last(output.type.tensor_type.shape.dim)
                body.node.extend(changed(output.name, f"noisy{place}", place, extents))
                output.name = f"noisy{place}"

    def known_float_extents(name):
        return known_extents(name) if name in infos and infos[name].elem_type == onnx.TensorProto.FLOAT else []

    for number in reversed(range(len(nodes))):
        node = nodes[number]
        change_states(node, str(number))
        if node.op_type in {"DequantizeLinear", *SATURATING} and (extents := known_extents(node.output[0])):
            name, node.output[0] = node.output[0], f"exact{number}"
            factor = ones(name, number, extents if node.op_type in SATURATING else extents[-1:])
            nodes.insert(number + 1, onnx.helper.make_node("Mul", [f"exact{number}", factor], [name]))
        if node.op_type in DIFFERENCES and (extents := known_float_extents(node.output[0])):
            name, node.output[0] = node.output[0], f"exact{number}"
            for offset, change in enumerate(changed(node.output[0], name, str(number), extents)):
                nodes.insert(number + 1 + offset, change)
        cancels = node.op_type in CANCELLING or (node.op_type == "Sub" and node.input[0] == node.input[1])
        noisy_inputs = range(2, len(node.input)) if node.op_type == "Loop" else [0] if cancels else []
        factors = []
        for which in noisy_inputs:
            if extents := known_float_extents(name := node.input[which]):
                node.input[which] = f"inexact{number}_{which}"
                factor = ones(name, f"{number}_{which}", extents)
                factors.append(onnx.helper.make_node("Mul", [name, factor], [f"inexact{number}_{which}"]))
        for factor in factors:
            nodes.insert(number, factor)
    return noisy


def session_of(model):
    """ONNX Runtime with weights that each run may replace, and without its own fusions."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for weight in copy.graph.initializer:
        if weight.name.startswith("w"):
            copy.graph.input.append(onnx.helper.make_tensor_value_info(weight.name, weight.data_type, weight.dims))
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])


def typical(values):
    finite = values[np.isfinite(values)]
    return np.sqrt(np.mean(finite**2)) if finite.size else 0


class Reference:
    """The outputs of ONNX Runtime for these inputs, and how much they depend on roundings."""

    def __init__(self, model, feeds):
        model = with_noise(model)
        self.session = session_of(model)
        self.feeds = feeds
        self.changeable = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer
                           if tensor.name.startswith("w")}
        self.changeable |= {name: values for name, values in feeds.items() if values.dtype == np.float32}
        self.random = np.random.default_rng(0)
        self.outputs = self.session.run(None, feeds)
        self.spreads = {}

    def changed(self, by):
        feeds = dict(self.feeds)
        for name, values in self.changeable.items():
            noise = self.random.choice([-1, 1], values.shape) * self.random.uniform(0.5, 1, values.shape)
            feeds[name] = np.asarray(values * (1 + by * noise), values.dtype)
        return self.session.run(None, feeds)

    def spread(self, by, runs):
        """The largest change of each element of each output in so many runs."""
        if by not in self.spreads:
            self.spreads[by] = [np.zeros(np.shape(values)) for values in self.outputs]
            with np.errstate(all="ignore"):
                for _ in range(runs):
                    for most, values, exact in zip(self.spreads[by], self.changed(by), self.outputs):
                        apart = np.abs(values.astype(np.float64) - exact)
                        np.maximum(most, np.where(np.isnan(apart), np.inf, apart), out=most)
        return self.spreads[by]

    def tolerance(self, number):
        """Returns the tolerance of each element if no rounding is flipped."""
        values = np.asarray(self.outputs[number]).astype(np.float64)
        spread = self.spread(CHANGE, 4)[number]
        tolerance = FACTOR * EPS * (np.maximum(spread, typical(spread)) / CHANGE + np.abs(values)) + SMALL
        # What is computed from quantized values does not change with what they were computed from.
        return tolerance + 64 * EPS * typical(values)

    def flipped(self, number):
        """Returns two tolerances of each element if roundings are flipped: where one of the changes has flipped them too, and
        for a few elements where none has."""
        seen = sum(4 * self.spread(by, 24)[number] for by in FLIPS)
        unseen = sum(4 * np.max(spread[np.isfinite(spread)], initial=0) for spread in
                     (self.spread(by, 24)[number] for by in FLIPS))
        return seen, np.maximum(seen, unseen)

    def wrong(self, number, got):
        """Says what is wrong with an output; None if nothing is."""
        expected = np.asarray(self.outputs[number])
        if got.shape != expected.shape or got.dtype != expected.dtype:
            return f"output {number} is {got.dtype}{got.shape} instead of {expected.dtype}{expected.shape}"
        with np.errstate(all="ignore"):
            same = got == expected
            if got.dtype.kind == "f":
                same |= np.isnan(got) & np.isnan(expected)
                # ONNX Runtime's maximum of a window that lies in the padding is the lowest number, not an infinity.
                same |= np.isneginf(got) & (expected == np.finfo(got.dtype).min)
            apart = np.abs(got.astype(np.float64) - expected.astype(np.float64))
            limit = self.tolerance(number)
            if (same | (apart <= limit)).all():
                return None
            seen, unseen = self.flipped(number)
            bad = ~(same | (apart <= limit + seen))
            limit = limit + (unseen if bad.sum() <= max(1, UNSEEN * bad.size) else seen)
            bad = ~(same | (apart <= limit))
            if not bad.any():
                return None
        at = np.unravel_index(np.argmax(np.where(bad, np.where(np.isnan(apart), np.inf, apart), 0)), expected.shape)
        return (f"output {number}, {bad.sum()} of {bad.size} elements: at {list(map(int, at))} {got[at]} instead of "
                f"{expected[at]} (at most {limit[at]:.3g} apart)")
