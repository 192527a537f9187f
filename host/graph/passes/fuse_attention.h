// Lets one kernel compute attention where its scores exceed the caches: two products, elementwise nodes and a softmax
// over the rows between them.
//
//     scores = matmul(q, k)                            kernel of y:
//     weights = softmax(where(mask, scores * 0.1, -inf))   ->     scores, weights and y for a block of rows at a time
//     y = matmul(weights, v)
//
// An open number of queries is taken to be large only if it is that of the keys. The last product gets the attribute
// `fuses_rows`, by which make_groups() joins the groups. Nothing between the products may be read by other nodes.
// Stands after the passes that decide how products are computed.
#pragma once

#include "ferry/target/target.h"
#include "host/graph/graph.h"

namespace ferry::graph {

Graph fuse_attention(Graph graph, const Target& target);

}  // namespace ferry::graph
