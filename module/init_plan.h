// Gives a function the init plan that computes its persistent buffers (MODULE.md).
#pragma once

#include "base/status.h"
#include "module/manifest.h"

namespace ferry {

// Gives `function` the plan of `init`, a function that computes tensors from constants, as its init plan. The outputs
// of `init` are the last parameters of `function`, by name, and become persistent buffers; all other parameters of
// `init` are input tensors of `function`, which become constants. Fails with invalid_argument, naming the parameter, if
// the two do not fit together.
Status attach_init_plan(FunctionInfo& function, FunctionInfo init);

// Makes init plans of the functions of files of the versions 1 to 3 that have a colon in their names (MODULE.md).
// Returns whether there were any.
Result<bool> attach_earlier_init_plans(Manifest& manifest);

}  // namespace ferry
