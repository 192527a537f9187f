// A named piece of memory with an element type and a shape. Parameters, intermediate tensors and small local arrays are
// all buffers; identity is the pointer.
#pragma once

#include "crosscompile/ir/node.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ferry::ir {

// The memory that holds a buffer.
enum class Scope : std::uint8_t {
  parameter,  // the caller's memory
  global,     // a block of the call's (or the thread's) workspace
  local,      // the running thread's stack or registers; constant size
  shared,     // a GPU block's shared memory
};

// Attributes of a buffer's storage and elements, which every copy of the buffer keeps: name, text in printed IR.
//
// nontemporal: larger than the caches, so non-temporal stores are preferable.
// swizzled: the 16-byte pieces of each row, a power of two of them, are permuted differently from row to row, so that
//   threads that read the same piece of neighbouring rows access different banks of shared memory
//   (passes/memory/swizzle.h). Indices ignore the permutation.
// filled_asynchronously: stores may complete as late as ir/async_copy.h allows.
// above_minimum: int8 of which no element is -128, as the definition of the elements shows
//   (analysis::is_above_minimum()).
#define FERRY_IR_STORAGE_ATTRIBUTES(X)              \
  X(nontemporal, "nontemporal")                     \
  X(swizzled, "swizzled")                           \
  X(filled_asynchronously, "filled_asynchronously") \
  X(above_minimum, "above_minimum")

struct StorageAttributes {
#define FERRY_FIELD(name, text) bool name = false;
  FERRY_IR_STORAGE_ATTRIBUTES(FERRY_FIELD)
#undef FERRY_FIELD
};

// The definition that computes a tensor; opaque here, for the front end that made it.
struct Definition {
  virtual ~Definition() = default;
};

struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  std::vector<Expr> shape;    // expressions of type kIndex
  std::vector<Expr> strides;  // in elements; empty: dense, row-major
  Scope scope = Scope::parameter;
  StorageAttributes storage;
  // Set for computed tensors of the front end. Lowering removes it (without_definition), and validate() refuses it.
  std::shared_ptr<const Definition> definition;
  std::size_t component = 0;  // its number among the values that are computed together
};

// Returns the storage of a tensor, which is not tied to the definition that computes it.
inline std::shared_ptr<Buffer> without_definition(Buffer tensor) {
  tensor.definition = nullptr;
  return std::make_shared<Buffer>(std::move(tensor));
}

}  // namespace ferry::ir
