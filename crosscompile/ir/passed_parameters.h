// The parameters whose memory a call passes to a function's native code: all except constants that its body does not
// access, because only the init function reads them. Therefore nothing keeps
// those constants in memory once an instance is bound.
#pragma once

#include "crosscompile/ir/function.h"

#include <vector>

namespace ferry::ir {

// Returns one entry for each parameter.
std::vector<bool> passed_parameters(const Function& function);

}  // namespace ferry::ir
