// Checks the invariants that every pass relies on: variables are defined where they are used and never redefined inside
// their own scope (copies of a loop side by side may share its variable), types and lanes agree, indices fit the rank,
// and buffers are parameters or are allocated around their use.
#pragma once

#include "crosscompile/ir/function.h"

#include <string>

namespace ferry::ir {

// Throws InternalError that names `after` and shows the offending part.
void validate(const Function& function, const std::string& after);

}  // namespace ferry::ir
