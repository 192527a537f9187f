// Networks with the parts of well-known ones, small enough for emulators and interpreters. Sizes may be symbols.
#pragma once

#include "host/graph/graph.h"

namespace ferry::test {

// ResNet's blocks: one that halves the image and doubles the channels, and its shortcut.
graph::Graph residual_network(const graph::Size& batch);

// Depthwise and grouped convolutions with biases, padding on one side only, pools of both kinds, a concatenation.
graph::Graph mobile_network(const graph::Size& batch);

// An image whose channels are in blocks where there are vectors: convolutions of all kinds, residuals, squeeze and
// excitation, pools and a concatenation. Blocks divide only some of the numbers of channels.
graph::Graph image_network(const graph::Size& batch, const graph::Size& height = 21, const graph::Size& width = 19);

// Convolutions of 3 x 3 between many channels, for which Winograd's algorithm pays in images of 20 x 20, and a
// depthwise one.
graph::Graph filters_network(const graph::Size& batch, const graph::Size& height, const graph::Size& width);

// Concats of what convolutions compute, of an input and of features to which each layer adds some; slices; residuals
// that are read for the last time, and one that is not.
graph::Graph branching_network(const graph::Size& batch);

// A layer of an encoder: embedding, attention with two heads, a feed-forward part with gelu.
graph::Graph encoder_network(const graph::Size& batch, const graph::Size& length);

// Loops over a sequence: one inside of another, entries from both ends, states that change places, an input of a concat
// that is computed outside, nodes that are the same in all iterations. One loop has an iteration less than the length.
graph::Graph recurrent_network(const graph::Size& batch, const graph::Size& length);

// Loops that end when a condition computed from the inputs says so, one inside of another: the inner one runs as often
// as a row says, none or up to five times, and the outer one until a row has a large element.
graph::Graph searching_network(const graph::Size& length);

}  // namespace ferry::test
