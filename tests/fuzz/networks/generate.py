"""A random network for a seed, and random inputs for its calls."""
import numpy as np

import edges
import elementwise
import images
import loops
import movement
import products
from net import Net, Open, Unsuitable

OPERATORS = (images.OPERATORS + elementwise.OPERATORS + movement.OPERATORS + products.OPERATORS + loops.OPERATORS +
             edges.OPERATORS)


def add_inputs(net):
    first = [net.batch] if net.batch else [net.pick(1, 1, 2, 3)]
    kind = "image" if net.opens_space else net.pick("image", "image", "image", "signal", "volume", "matrix", "sequence")
    channels = net.pick(1, 3, 4, 5, 8, 16, 16, 17, 21, 24, 32, 33, 64, 65)
    shape = {
        "image": [channels, net.random.randint(1, 15), net.random.randint(1, 15)],
        "signal": [channels, net.random.randint(1, 30)],
        "volume": [net.pick(1, 2, 5, 16), *[net.random.randint(1, 6) for _ in range(3)]],
        "matrix": [net.random.randint(1, 70)],
        "sequence": [net.random.randint(1, 12), net.pick(4, 9, 16, 32, 64)],
    }[kind]
    net.input(first + shape)
    if net.chance(0.3):
        net.input(first + shape)
    if net.chance(0.2):
        net.input(first + [net.random.randint(1, 20)])
    if net.batch and net.chance(0.15):
        # Each call requires that the two open sizes are equal: the values are added at once.
        other = Open(net.batch)
        x = net.input([other, *shape])
        net.add("Add", [net.inputs[0], x], net.inputs[0].shape)


def generate(seed, opens_space=False):
    """The network and its outputs: what nothing else reads, and sometimes other values."""
    net = Net(seed)
    net.opens_space = opens_space
    add_inputs(net)
    # Operands of fixed sizes beside open ones are seldom valid, and others than those of images often have some.
    operators, weights = zip(*(3 * images.OPERATORS + elementwise.OPERATORS if opens_space else OPERATORS))
    wanted = net.random.randint(1, 14)
    made = tries = 0
    while made < wanted and tries < 20 * wanted:
        tries += 1
        before = len(net.nodes), len(net.weights), len(net.values), net.names
        try:
            net.random.choices(operators, weights)[0](net)
            made += 1
        except Unsuitable:
            del net.nodes[before[0]:], net.weights[before[1]:], net.values[before[2]:]
    read = {name for node in net.nodes for name in node.input}
    inputs = {value.name for value in net.inputs}
    outputs = [value for value in net.values
               if value.name not in inputs and (value.name not in read or net.chance(0.05)) and np.prod(value.shape) > 0]
    net.inputs = [value for value in net.inputs if value.name in read]
    return net, outputs


def feeds(net, batch, random, more=0):
    """Inputs for a call with this size of the batch. Open sizes of images are greater by at most `more` than in the first."""
    added = {}

    def size_of(axis, size):
        if isinstance(size, Open):
            return batch
        if axis < 2 or not net.is_open_space(size):
            return size
        return size + added.setdefault(size, int(random.integers(0, more + 1)))

    return {value.name: random.standard_normal([size_of(axis, size) for axis, size in enumerate(value.shape)], np.float32)
            for value in net.inputs}
