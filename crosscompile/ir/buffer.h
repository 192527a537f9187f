// A named piece of memory with an element type and a shape. Parameters, intermediate tensors and small local arrays are
// all buffers; identity is the pointer.
#pragma once

#include "crosscompile/ir/node.h"

#include <memory>
#include <string>
#include <vector>

namespace ferry::ir {

// Where a buffer lives.
enum class Scope : std::uint8_t {
  parameter,  // the caller's memory
  global,     // a block of the call's (or the thread's) workspace
  local,      // the running thread's stack or registers; constant size
  shared,     // a GPU block's shared memory
};

// What computes a buffer, for the front end that made it; opaque here.
struct Definition {
  virtual ~Definition() = default;
};

struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  std::vector<Expr> shape;    // of type kIndex
  std::vector<Expr> strides;  // in elements; empty: dense, row-major
  Scope scope = Scope::parameter;
  bool streams = false;  // larger than caches: stores had better go past them
  // The pieces of 16 bytes of each row, of which there is a power of two, stand in another order from row to row, so
  // that threads which read the same piece of neighbouring rows read from different banks of shared memory
  // (passes/swizzle.h). Indices do not know it.
  bool swizzled = false;
  bool is_ahead = false;                         // filled ahead: stores may land as late as ir/late_copy.h says
  std::shared_ptr<const Definition> definition;  // null for parameters
  std::size_t component = 0;                     // which output of the definition
};

using BufferRef = std::shared_ptr<const Buffer>;

}  // namespace ferry::ir
