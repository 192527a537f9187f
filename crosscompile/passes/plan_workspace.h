// Gives every allocated buffer of Scope::global its place: a byte offset into the call's workspace, or inside a
// parallel loop into the running thread's (Allocate in ir/stmt.h), and tells the function how many bytes of both it
// needs. Buffers that are never needed at the same time share bytes: a chain of stages takes the room of its two
// largest neighbours, not of all.
//
// Buffers of Scope::local that cannot be on the stack (more than kMaxStackBytes, or no constant size) become global
// first.
//
// Before: vectorized, since that widens buffers allocated inside. After, buffers still exist as buffers; where they
// start is known. Stands before flatten, which changes only how elements are counted, to see sizes as shapes.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

inline constexpr std::int64_t kWorkspaceAlignment = 64;
inline constexpr std::int64_t kGpuWorkspaceAlignment = 256;  // suits the views of every OpenCL device
inline constexpr std::int64_t kMaxStackBytes = 32 * 1024;

// Offsets are multiples of `alignment` bytes.
ir::Function plan_workspace(ir::Function function, std::int64_t alignment = kWorkspaceAlignment);

}  // namespace ferry::passes
