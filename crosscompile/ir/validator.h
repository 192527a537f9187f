// Checks what every pass relies on: variables are defined where used and never again inside their own scope (copies of
// a loop side by side may share its variable), types and lanes agree, indices fit the rank, buffers are parameters or
// allocated around their use.
#pragma once

#include "crosscompile/ir/function.h"

#include <string>

namespace ferry::ir {

// Throws InternalError that names `after` and shows the offending part.
void validate(const Function& function, const std::string& after);

}  // namespace ferry::ir
