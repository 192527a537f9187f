// A named piece of memory with an element type and a shape. Parameters, intermediate tensors and small local arrays are
// all buffers; identity is the pointer.
#pragma once

#include "crosscompile/ir/node.h"

#include <memory>
#include <string>
#include <vector>

namespace ferry::ir {

// The memory that holds a buffer.
enum class Scope : std::uint8_t {
  parameter,  // the caller's memory
  global,     // a block of the call's (or the thread's) workspace
  local,      // the running thread's stack or registers; constant size
  shared,     // a GPU block's shared memory
};

// The definition that computes a buffer; opaque here, for the front end that made it.
struct Definition {
  virtual ~Definition() = default;
};

struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  std::vector<Expr> shape;    // of type kIndex
  std::vector<Expr> strides;  // in elements; empty: dense, row-major
  Scope scope = Scope::parameter;
  bool nontemporal = false;  // larger than the caches, so non-temporal stores are preferable
  // The 16-byte pieces of each row, whose number is a power of two, are permuted differently from row to row, so that
  // threads that read the same piece of neighbouring rows access different banks of shared memory (passes/swizzle.h).
  // Indices ignore the permutation.
  bool swizzled = false;
  bool filled_asynchronously = false;  // filled asynchronously: stores may complete as late as ir/async_copy.h allows
  std::shared_ptr<const Definition> definition;  // null for parameters
  std::size_t component = 0;                     // which output of the definition
};

using BufferRef = std::shared_ptr<const Buffer>;

}  // namespace ferry::ir
