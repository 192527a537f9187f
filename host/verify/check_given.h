// Compares results that are there already with the definition of a kernel.
#pragma once

#include <span>
#include <string>

#include "ferry/kernel/observer.h"
#include "ferry/verify/check_request.h"
#include "host/compiler/api/compiler.h"

namespace ferry::verify {

// `results` names a file of NumPy (.npy) for each tensor that the kernel writes, in their order: what something
// computed from the inputs of the call. Nothing is compiled, and nothing but the definition runs. If the inputs were
// drawn at random, the square-root bound holds, as for those that ferry draws (CheckLimits). Throws UsageError for a
// kernel without a definition, and for a file that does not fit its tensor. `compiler` may be null for a module.
CheckReport check_given(const Compiler* compiler, const CheckRequest& request, std::span<const std::string> results,
                        bool are_random = false, const Observer& observer = {});

}  // namespace ferry::verify
