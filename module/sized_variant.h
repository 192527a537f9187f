// Gives a function other code for calls with certain sizes.
#pragma once

#include "base/status.h"
#include "module/manifest.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ferry {

// Lets `function` do what `variant` does wherever its symbols have these values, one for each of them, and what it did
// before for all others. `variant` has the same parameters with these sizes in place of the symbols, of which it has
// none of its own. The plan compares the sizes: repeats of one iteration or none surround the steps of both. Variants
// may be attached one after the other. Fails with invalid_argument if the two do not fit together.
Status attach_variant(FunctionInfo& function, FunctionInfo variant, std::span<const std::int64_t> sizes);

// Returns how many steps of the plan run in one call at most: of a function with variants, those of one of them.
std::size_t most_steps_of_call(const Plan& plan);

}  // namespace ferry
