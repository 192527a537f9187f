// Assigns each allocated buffer of Scope::global its place, a byte offset into the call's workspace or, inside a
// parallel loop, into the running thread's (Allocate in ir/stmt.h), and sets the sizes of both workspaces in the
// function. Buffers that are never needed at the same time share bytes: a chain of stages takes the space of its two
// largest neighbours, not of all.
//
// Buffers of Scope::local that cannot be on the stack (more than kMaxStackBytes, or without a constant size) first
// become global.
//
// Runs after vectorize, which widens buffers allocated inside of vectorized loops, and before flatten, which only
// changes how elements are counted, because shapes give the sizes here. Afterwards buffers still exist as buffers, at
// known places.
#pragma once

#include "crosscompile/ir/function.h"

namespace ferry::passes {

inline constexpr std::int64_t kWorkspaceAlignment = 64;
inline constexpr std::int64_t kGpuWorkspaceAlignment = 256;  // the alignment that every OpenCL device accepts for views
inline constexpr std::int64_t kMaxStackBytes = 32 * 1024;

// Offsets are multiples of `alignment` bytes.
ir::Function plan_workspace(ir::Function function, std::int64_t alignment = kWorkspaceAlignment);

}  // namespace ferry::passes
