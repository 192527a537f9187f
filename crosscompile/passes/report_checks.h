// Makes the checks of a GPU's function, which stand between its kernels, something that kernels can do: the first one
// that fails leaves its result (1 + message) in the first four bytes of the call's workspace, and the kernels behind it
// then do nothing, so that no thread goes where the check would not let it. Whoever runs the plan looks there.
//
//     allocate inside at 0                       allocate failed at 0
//     inside = all(0 <= I[i] < n)                allocate inside at 256
//     assert inside, "..."                       inside = all(0 <= I[i] < n)
//     blockIdx.x for (b)                 ->      failed = inside ? 0 : 1
//       threadIdx.x for (t)                      blockIdx.x for (b)
//         Y[...] = A[I[...]]                       threadIdx.x for (t)
//                                                    if (failed == 0) Y[...] = A[I[...]]
//
// Before: plan_workspace, since the place is fixed; what it placed moves up. Barriers stand already, and all threads of
// a block agree about the condition around them. Stands before flatten, which gives the new accesses their index.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

// A function without checks comes back without messages.
ir::Function report_checks(ir::Function function);

}  // namespace ferry::passes
