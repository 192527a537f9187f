"""Makes a failing network smaller while it fails in the same way."""
import onnx
from onnx import helper

from bounds import session_of


def values_of(model, feeds):
    """All values that ONNX Runtime computes, by name."""
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    names = [name for node in model.graph.node for name in node.output if name]
    del shown.graph.output[:]
    shown.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    return dict(zip(names, session_of(shown).run(None, feeds)))


def pruned(model):
    """Without the nodes, inputs and weights that no output needs."""
    needed = {info.name for info in model.graph.output}
    nodes = []
    for node in reversed(model.graph.node):
        if needed.intersection(node.output):
            nodes.insert(0, node)
            needed.update(node.input)
    result = onnx.ModelProto()
    result.CopyFrom(model)
    del result.graph.node[:], result.graph.input[:], result.graph.initializer[:]
    result.graph.node.extend(nodes)
    result.graph.input.extend(info for info in model.graph.input if info.name in needed)
    result.graph.initializer.extend(weight for weight in model.graph.initializer if weight.name in needed)
    return result


def with_output(model, name):
    result = onnx.ModelProto()
    result.CopyFrom(model)
    del result.graph.output[:]
    result.graph.output.append(helper.make_empty_tensor_value_info(name))
    return pruned(result)


def cut(model, name, value):
    """With an input in place of a computed value."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    info = helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
    for node in result.graph.node:
        for number, output in enumerate(node.output):
            if output == name:
                node.output[number] = name + "_before"
    result.graph.input.append(info)
    return pruned(result)


def fixed(model, feeds):
    """With inputs of fixed sizes."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    for info in result.graph.input:
        for dim, size in zip(info.type.tensor_type.shape.dim, feeds[info.name].shape):
            dim.dim_value = size
    return result


def smaller(model, feeds, values):
    """Yields networks that are simpler, the simplest first."""
    outputs = [info.name for info in model.graph.output]
    for node in model.graph.node:
        for name in node.output:
            if outputs != [name] and name:
                yield with_output(model, name), feeds
    for name, value in values.items():
        if name not in outputs and value.size:
            yield cut(model, name, value), feeds | {name: value}
    if any(dim.dim_param for info in model.graph.input for dim in info.type.tensor_type.shape.dim):
        yield fixed(model, feeds), feeds


def shrink(model, feeds, again, fails, tries=300):
    """Returns the smallest network found for which fails(model, feeds, again) holds, with its inputs."""
    if again is not None and fails(model, feeds, None):
        again = None
    progress = True
    while progress and tries > 0:
        progress = False
        for candidate, inputs in smaller(model, feeds, values_of(model, feeds) if again is None else {}):
            tries -= 1
            if tries <= 0:
                break
            if len(candidate.graph.node) >= len(model.graph.node) and len(candidate.graph.output) >= len(model.graph.output) \
                    and candidate.graph.input == model.graph.input:
                continue
            if fails(candidate, inputs, again):
                model, feeds, progress = candidate, inputs, True
                break
    return model, feeds, again
