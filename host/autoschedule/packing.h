// Packed copies of tensors, in the order in which tiles read them.
#pragma once

#include "ferry/schedule/schedule.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <optional>
#include <string>
#include <vector>

namespace ferry::autoschedule {

// Divides one dimension of the tensor that is read into panels of `panel` elements. A panel stores, for every index of
// the other dimensions, its own elements side by side. These dimensions are in the tensor's order, but those that loops
// over a sum go along are in the order of the loops.
struct Packing {
  const ir::Load* load = nullptr;
  std::size_t dimension = 0;
  std::int64_t panel = 1;
  std::int64_t lanes = 1;  // width of the vectors that copy the panels
  // A dimension of `lanes` elements that is stored innermost; each element of a panel is then such a vector.
  std::optional<std::size_t> vector_dimension = {};
  // A dimension that is stored inside of that: each element of the vector is then a group.
  std::optional<std::size_t> group_dimension = {};
  std::vector<ir::Axis> sum = {};  // loops over the sum, outermost first
};

// Makes the stage read a packed copy, which is a stage of its own (at the root until it is moved); returns the copy's
// name.
std::string pack(schedule::Schedule& schedule, const std::string& reader, const Packing& packing);

}  // namespace ferry::autoschedule
