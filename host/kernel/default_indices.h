// Contents of a network's inputs that nobody has described, where not all are valid.
#pragma once

#include <string>

#include "host/kernel/call_plan.h"
#include "host/kernel/kernel.h"

namespace ferry {

// Adds an argument ":below(ROWS)" for each input of a network that is an index of a table, such as the words of a text,
// unless the call describes it. Other kernels are left as they are.
void add_default_indices(const KernelSource& source, CallOptions& call);

}  // namespace ferry
