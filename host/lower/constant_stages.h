// Values computed from constant parameters alone stay the same from call to call. Stages at the root that read only
// such values (packed copies of weights, for example) are moved into an init function, which runs once for each
// instance.
//
//     def mm(float(M,K) A, const float(K,N) B) -> (C)        with B.global, a packed copy of B, at the root:
//
//     mm.init_plan(in B, out B.global)    mm(in A, in B, out C, in B.global)
#pragma once

#include "crosscompile/ir/function.h"

#include <vector>

namespace ferry::lower {

// Returns the function, followed by its init function if any of its root stages depend on constants alone. Parameters
// that no instance can bind, because the shape of others determines their size, are not constant afterwards.
std::vector<ir::Function> split_constants(ir::Function function);

}  // namespace ferry::lower
