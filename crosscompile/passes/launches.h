// The kernels of a function for a GPU, in the order in which they run, and how each is launched: what code generators
// print and plans are made of.
#pragma once

#include "crosscompile/ir/function.h"

#include <array>
#include <string>
#include <vector>

namespace ferry::passes {

// What a kernel is given: a buffer or a number.
struct LaunchParameter {
  ir::BufferRef buffer;  // one of the function's parameters, or a piece of its workspace
  ir::Expr offset;       // bytes from the start of the call's workspace; nothing for parameters
  ir::Expr variable;     // a size or a scalar; nothing for buffers
};

struct LaunchAxis {
  ir::Expr var;  // nothing: no loop runs over this axis
  ir::Expr extent{1};
};

// More shared memory than this is given to CUDA kernels when they are launched.
inline constexpr std::int64_t kStaticSharedBytes = 48 * 1024;

struct Launch {
  std::string symbol;                     // unique within a module
  std::array<LaunchAxis, 3> grid, block;  // x, y, z; the grid over the function's sizes, the block constant
  std::vector<ir::BufferRef> shared;
  std::int64_t shared_bytes = 0;
  std::vector<LaunchParameter> parameters;  // in the order of the kernel's
  ir::Stmt body;                            // of one thread
};

// Of one buffer in a block's shared memory, with what it takes to align the next.
std::int64_t shared_bytes_of(const ir::Buffer& buffer);

// Of a function that went through all passes. A statement that no loop over blocks or threads is around is a kernel of
// one thread. A function that computes nothing, since its results have no elements, has one kernel over no blocks: a
// plan without launches would be taken for that of a CPU. CompileError for what a GPU cannot do: checks on the way,
// functions of the CPU.
std::vector<Launch> launches_of(const ir::Function& function);

}  // namespace ferry::passes
