// Moves the assertions of a GPU function, which stand between its kernels, into kernels: the first one that fails
// leaves its result (1 + message) in the first four bytes of the call's workspace, and the kernels after it then do
// nothing, so that no thread executes code that the assertion protects. The code that runs the plan reads the result
// there.
//
//     allocate inside at 0                       allocate failed at 0
//     inside = all(0 <= I[i] < n)                allocate inside at 256
//     assert inside, "..."                       inside = all(0 <= I[i] < n)
//     blockIdx.x for (b)                 ->      failed = inside ? 0 : 1
//       threadIdx.x for (t)                      blockIdx.x for (b)
//         Y[...] = A[I[...]]                       threadIdx.x for (t)
//                                                    if (failed == 0) Y[...] = A[I[...]]
//
// Runs after plan_workspace, since the place of the result is fixed; the offsets that plan_workspace assigned move up.
// Barriers are in place already, and all threads of a block agree on the condition around them. Runs before flatten,
// which gives the new accesses their index.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

// A function that has no assertions is returned with an empty list of messages.
ir::Function lower_assertions(ir::Function function);

}  // namespace ferry::passes
