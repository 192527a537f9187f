// Chooses how convolutions and products of bytes multiply, by the instructions of the target
// (crosscompile/passes/tensorize/dot_instructions.h): groups of four bytes or pairs of bytes, whose type is changed
// where the instruction takes only the other, or else pairs of int16. Sums of products with
// matrices are padded where AMX's tiles compute them (crosscompile/passes/tensorize/tile_dot.h). Results are the same.
#pragma once

#include "ferry/target/target.h"
#include "host/graph/graph.h"

namespace ferry::graph {

// Whether the target multiplies vectors of bytes to int16, which can be added up before they are widened.
bool adds_byte_pairs(const Target& target);

// Returns the type of bytes that the target's products with weights of this type take for an X of bytes.
DType bytes_of_products(const Target& target, DType x, DType weights);

// Stands after the choice of layouts: only convolutions to images with their channels in blocks have the choice.
Graph choose_dots(Graph graph, const Target& target);

}  // namespace ferry::graph
