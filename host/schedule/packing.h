// Copies of tensors in the order in which tiles read them.
#pragma once

#include "host/schedule/schedule.h"

namespace ferry::schedule {

// Panels of `panel` elements along one dimension of the tensor that is read: element by element of all others, the
// panel's elements side by side.
struct Packing {
  const ir::Load* load = nullptr;
  std::size_t dimension = 0;
  std::int64_t panel = 1;
  std::int64_t lanes = 1;  // of the vectors that move them
};

// Lets the stage read a packed copy, which is a stage of its own (at the root until it is moved); returns its name.
std::string pack(Schedule& schedule, const std::string& reader, const Packing& packing);

}  // namespace ferry::schedule
