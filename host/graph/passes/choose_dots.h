// Chooses how convolutions and products of bytes multiply, by the instructions of the target
// (crosscompile/passes/tensorize/dot_instructions.h): groups of four bytes or pairs of bytes, whose type is changed
// where the instruction takes only the other, or else pairs of int16. Results are the same.
#pragma once

#include "ferry/target/target.h"
#include "host/graph/graph.h"

namespace ferry::graph {

// Stands after the choice of layouts: only convolutions to images with their channels in blocks have the choice.
Graph choose_dots(Graph graph, const Target& target);

}  // namespace ferry::graph
