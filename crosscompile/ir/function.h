// A lowered function: what code generators and the interpreter take.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "rpc/abi/manifest.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ferry {
class Context;  // crosscompile/passes/intrinsics.h
}

namespace ferry::ir {

struct FunctionParameter {
  std::string name;
  ParameterKind kind = ParameterKind::tensor;
  Direction direction = Direction::in;
  BufferRef buffer;  // tensors
  Expr scalar;       // scalars: the Var the body uses
  // Of in tensors: the contents are the same in all calls that give the same tensor.
  bool constant = false;
};

struct Requirement {
  Expr condition;  // over symbols
  std::string message;
};

// Where a function stands in the text it was written in.
struct SourceLines {
  std::string file;
  unsigned line = 0;                       // of the function
  std::map<std::string, unsigned> stores;  // of the statement that computes a tensor, by its name
};

struct Function {
  std::string name;
  std::vector<FunctionParameter> parameters;
  // Sizes in the order of the kernel's trailing arguments, as Var of type kIndex.
  std::vector<Expr> symbols;
  std::vector<Requirement> requirements;
  std::vector<std::string> messages;  // Assert::message indexes this
  Expr flops;                         // useful arithmetic of one call over symbols; nothing when unknown
  // Bytes over symbols of the two blocks that Allocate::offset points into, which code generation gets from the
  // runtime; set by passes/plan_workspace. Nothing: none needed.
  Expr call_workspace, thread_workspace;
  // Set by passes/flatten: every index is a position from the start of its buffer, also where the rank is 1.
  bool flat = false;
  // The user's intrinsics that the body calls; null: none. Not needed any more after passes/intrinsics.
  std::shared_ptr<const Context> context;
  std::shared_ptr<const SourceLines> lines;  // null: no debug information is wanted
  Stmt body;
};

}  // namespace ferry::ir
