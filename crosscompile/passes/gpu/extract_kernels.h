// The kernels of a GPU function, in execution order, and how each is launched: the input of code generators and of
// plans.
#pragma once

#include "crosscompile/ir/function.h"

#include <array>
#include <string>
#include <vector>

namespace ferry::passes {

// A kernel parameter: a buffer or a number.
struct KernelParameter {
  ir::BufferRef buffer;   // one of the function's parameters, or a piece of its workspace
  ir::Expr offset;        // in bytes from the start of the call's workspace; nothing for parameters
  ir::Expr variable;      // a size or a scalar; nothing for buffers
  bool is_input = false;  // a buffer that the function only reads
};

// An array in a block's shared memory.
struct SharedArray {
  ir::BufferRef buffer;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;   // with the padding that aligns the next array
  std::int64_t offset = 0;  // in bytes, among all arrays of the kernel
};

struct KernelAxis {
  ir::Expr var;  // nothing when no loop runs over this axis
  ir::Expr extent{1};
};

// CUDA kernels with more shared memory than this get it dynamically, at launch, as one block.
inline constexpr std::int64_t kStaticSharedBytes = 48 * 1024;

struct GpuKernel {
  std::string symbol;                     // unique within a module
  std::array<KernelAxis, 3> grid, block;  // x, y, z; grid extents over the function's sizes, block extents constant
  std::vector<SharedArray> shared;
  std::int64_t shared_bytes = 0;            // all arrays together
  std::vector<KernelParameter> parameters;  // in the order of the kernel's parameters
  ir::Stmt body;                            // the code of one thread
};

// Describes an array of constant size that begins at this offset.
SharedArray shared_array(const ir::BufferRef& buffer, std::int64_t offset);

// Takes a function that went through all passes. A statement without enclosing loops over blocks or threads becomes a
// kernel of one thread. A function that computes nothing, since its results have no elements, has one kernel over no
// blocks. Throws CompileError for what a GPU cannot do: assertions inside kernels, functions of the CPU.
std::vector<GpuKernel> extract_kernels(const ir::Function& function);

}  // namespace ferry::passes
