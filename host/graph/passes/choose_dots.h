// Lets convolutions of bytes add products in groups of four channels where the target has an instruction for that
// (crosscompile/passes/tensorize/dot_instructions.h). Results are the same.
#pragma once

#include "ferry/target/target.h"
#include "host/graph/graph.h"

namespace ferry::graph {

// Only convolutions to images with their channels in blocks have the choice.
Graph choose_dots(Graph graph, const Target& target);

}  // namespace ferry::graph
