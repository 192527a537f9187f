// The kernels of a GPU function, in execution order, and how each is launched: the input of code generators and of
// plans.
#pragma once

#include "crosscompile/ir/function.h"

#include <array>
#include <string>
#include <vector>

namespace ferry::passes {

// A kernel parameter: a buffer or a number.
struct LaunchParameter {
  ir::BufferRef buffer;  // one of the function's parameters, or a piece of its workspace
  ir::Expr offset;       // in bytes from the start of the call's workspace; nothing for parameters
  ir::Expr variable;     // a size or a scalar; nothing for buffers
};

struct LaunchAxis {
  ir::Expr var;  // nothing when no loop runs over this axis
  ir::Expr extent{1};
};

// CUDA kernels with more shared memory than this get it dynamically, at launch.
inline constexpr std::int64_t kStaticSharedBytes = 48 * 1024;

struct Launch {
  std::string symbol;                     // unique within a module
  std::array<LaunchAxis, 3> grid, block;  // x, y, z; grid extents over the function's sizes, block extents constant
  std::vector<ir::BufferRef> shared;
  std::int64_t shared_bytes = 0;
  std::vector<LaunchParameter> parameters;  // in the order of the kernel's parameters
  ir::Stmt body;                            // the code of one thread
};

// Size of one buffer in a block's shared memory, with the padding that aligns the next.
std::int64_t shared_bytes_of(const ir::Buffer& buffer);

// Takes a function that went through all passes. A statement without enclosing loops over blocks or threads becomes a
// kernel of one thread. A function that computes nothing, since its results have no elements, has one kernel over no
// blocks: a plan without launches would look like that of a CPU. Throws CompileError for what a GPU cannot do:
// assertions inside kernels, functions of the CPU.
std::vector<Launch> launches_of(const ir::Function& function);

}  // namespace ferry::passes
