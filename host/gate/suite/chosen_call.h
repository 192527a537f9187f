// Chooses how to call a function of which nothing but its signature is known.
#pragma once

#include "ferry/kernel/call_options.h"
#include "module/manifest.h"

namespace ferry::gate {

// Returns sizes and inputs with which the function can be called. All sizes get the same value, a power of two: the
// largest with which the tensors take up to 4 MiB and a call up to 2^26 operations, so that most take about a
// millisecond. Where the number of operations is unknown, it is estimated for tensors of two dimensions or more as in a
// product of matrices. The sizes of a network, which are usually a batch or a length, are as small as it permits.
// Numbers get the value 1, and integers that may be indices of elements values that are valid as such.
//
// Throws UsageError if no such size fits, with the reason why the last one did not.
CallOptions chosen_call(const FunctionInfo& function, bool is_network);

}  // namespace ferry::gate
