// Decides for every stage that is not inlined which points it computes, over which loops, and in which storage.
#pragma once

#include "host/lower/nest.h"

#include <unordered_map>

namespace ferry::lower {

// The buffer of the parameter that holds a tensor.
using ParameterStorage = std::unordered_map<const ir::Buffer*, ir::BufferRef>;

// Returns the nests, consumers first. Throws CompileError if the loop that a stage is computed at does not, or no
// longer, enclose its readers.
Nests place_stages(const schedule::Stages& stages, const ParameterStorage& parameter_storage);

}  // namespace ferry::lower
