// Decides which groups can compute in the NCHWc layout, and estimates their times.
#pragma once

#include "host/graph/group.h"
#include "host/graph/passes/size_guess.h"

#include <cstdint>
#include <optional>

namespace ferry::graph {

// Multiply-adds that take as long as moving one byte, by an estimate for one core with its caches.
inline constexpr double kMultiplyAddsPerByte = 4;

// Estimated times of a group, in the time that moving one byte takes.
struct LayoutCosts {
  double plain = 0, blocked = 0;
};

// Whether a node convolves each channel with one filter of its own.
bool is_depthwise(const Graph& graph, const Node& node);

// Returns nothing for a group that must be plain.
std::optional<LayoutCosts> layout_costs(const Graph& graph, const Group& group, std::int64_t lanes,
                                        const SizeGuess& guess);

// Whether a node of a group in blocks reads an input in blocks too; otherwise it reads it plain.
bool reads_blocked(const Graph& graph, const Node& node, std::size_t input);

// Returns the time of converting a tensor between the layouts; 0 where both are the same bytes.
double conversion_cost(const Graph& graph, TensorId id, std::int64_t lanes, const SizeGuess& guess);

}  // namespace ferry::graph
