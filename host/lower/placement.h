// Decides for every stage that is not inlined which points it computes, over which loops, and where they are kept.
#pragma once

#include "host/lower/nest.h"

#include <unordered_map>

namespace ferry::lower {

// Memory that the caller brings, by tensor.
using GivenStorage = std::unordered_map<const ir::Buffer*, ir::BufferRef>;

// Consumers first. CompileError where the loops that a stage is to be computed in do not hold its readers (any more).
Nests place_stages(const schedule::Stages& stages, const GivenStorage& given);

}  // namespace ferry::lower
