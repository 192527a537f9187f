// A lowered function: the input of code generators and of the interpreter.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "module/manifest.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ferry {
class Context;  // ferry/intrinsics.h
}

namespace ferry::ir {

struct FunctionParameter {
  std::string name;
  ParameterKind kind = ParameterKind::tensor;
  Direction direction = Direction::in;
  BufferRef buffer;  // tensors
  Expr scalar;       // scalars: the Var the body uses
  // For input tensors: instances bind the tensor, whose contents are the same in all of their calls.
  bool constant = false;
  // For tensors: memory of an instance, which its init function writes and its calls read.
  bool persistent = false;
  // For scalars: the shape of a tensor or the range of a loop depends on it. Other scalars are data, however they are
  // used (analysis/wrapping.h).
  bool is_size = false;
};

// The position of a function in the user's source text.
struct SourceLines {
  std::string file;
  unsigned line = 0;                       // where the function begins
  std::map<std::string, unsigned> stores;  // the line of the statement that computes a tensor, by the tensor's name
};

struct Function {
  std::string name;
  std::string init_of;  // the function whose persistent parameters this one computes from its constants; empty: none
  std::vector<FunctionParameter> parameters;
  // Sizes in the order of the kernel's trailing arguments, as Var of type kIndex.
  std::vector<Expr> symbols;
  std::vector<Requirement> requirements;
  std::vector<std::string> messages;  // Assert::message indexes this
  Expr flops;                         // useful arithmetic of one call over symbols; nothing when unknown
  // Sizes in bytes, over the symbols, of the two blocks that Allocate::offset points into; the runtime provides the
  // blocks. Set by the pass plan_workspace; nothing when no block is needed.
  Expr call_workspace, thread_workspace;
  // Set by the pass flatten: every index is a position from the start of its buffer, also in buffers of rank 1.
  bool flat = false;
  // The user's intrinsics that the body calls; null when there are none. Unused after the pass lower_intrinsics.
  std::shared_ptr<const Context> context;
  std::shared_ptr<const SourceLines> lines;  // null when no debug information is wanted
  Stmt body;
};

}  // namespace ferry::ir
