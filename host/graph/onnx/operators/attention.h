// Pieces of attention, with heads in a dimension of their own: [batch, heads, sequence, size].
#pragma once

#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

// Returns a number of heads, an attribute that must be positive.
std::int64_t read_heads(NodeImport& node, const char* name);
// Returns [batch, heads, sequence, size] of [batch, sequence, heads * size].
Value split_heads(const NodeImport& node, const Value& x, std::int64_t heads);
// The same of a tensor that may have this form already; the attribute tells the number of heads where it has not.
Value with_heads(NodeImport& node, const Value& x, const char* heads_name);
// Returns [batch, sequence, heads * size].
Value without_heads(const NodeImport& node, const Value& x);
// Multiplies matrices for each head of `a`; several of them in turn share one head of `b`.
Value product_per_head(const NodeImport& node, const Value& a, const Value& b, bool transposed_b);
// Returns 1 / sqrt(the size of a head), by which scores are multiplied unless the node says otherwise.
double scale_of_heads(const NodeImport& node, const Value& q);

// Returns x with pairs of the first `rotated` entries of each head turned by angles, whose cosines and sines are
// [batch, 1, sequence, rotated / 2] (rotary_embedding.cpp).
Value turned(const NodeImport& node, const Value& x, const Value& cosine, const Value& sine, std::int64_t rotated,
             bool interleaved);
// Returns the angles of each position of each sequence, or of all of them, to broadcast along the heads.
Value for_heads(const NodeImport& node, const Value& angles, std::int64_t rotated);

}  // namespace ferry::graph::onnx
