// A kernel as the user wrote it: parameters in calling order, and what the outputs are.
#pragma once

#include "crosscompile/ir/function.h"
#include "host/lang/tensor.h"

#include <string>
#include <vector>

namespace ferry::lang {

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::tensor;
  Direction direction = Direction::in;
  // Tensors: the placeholder (in), the computed tensor (out), or the computed tensor that takes the placeholder's place
  // (inout).
  Tensor tensor;
  Tensor initial;             // inout: the placeholder whose contents the call starts from
  std::vector<Expr> strides;  // of an output; inputs and inouts have their placeholder's. Empty: dense
  Expr scalar;                // scalars: the variable
  bool constant = false;      // in tensors: the same contents in many calls (weights, say), so worth rearranging once
};

struct Program {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<ir::Requirement> requirements;
  // Of the user's own intrinsics that the expressions call; may be null.
  std::shared_ptr<const Context> context;
  std::shared_ptr<const ir::SourceLines> lines = {};  // where it was written; null: unknown, or not wanted
  // What is legal in the text, but probably not meant, as errors read: "mm.tc:3:24: warning: ..."
  std::vector<std::string> warnings = {};
};

// Checks that every variable is a size of an input or a scalar parameter and every tensor read is a parameter or
// computed; names are unique; every size stands bare in a dimension of an input or is an int64 scalar; ranges and
// shapes use sizes only. CompileError otherwise. Strides that nothing binds are added as scalar parameters at the end,
// and requirements that no two elements of a strided output share a place.
Program make_program(std::string name, std::vector<Parameter> parameters,
                     std::vector<ir::Requirement> requirements = {}, std::shared_ptr<const Context> context = {});
Parameter in(Tensor tensor);
// An input whose contents are the same in many calls: what is computed of such alone is computed once.
Parameter constant(Tensor tensor);
Parameter out(Tensor tensor, std::vector<Expr> strides = {});
Parameter inout(Tensor initial, Tensor result);
Parameter scalar(Expr variable);
// "message" is what the caller reads when the condition, over sizes and int64 scalars, does not hold.
ir::Requirement require(Expr condition, std::string message);

// Of a tensor parameter; empty when it is dense.
const std::vector<Expr>& strides_of(const Parameter& parameter);

// Sizes in order of first occurrence in the inputs' shapes, then int64 scalar parameters that shapes or bounds use.
std::vector<Expr> symbols_of(const Program& program);
// Every computed tensor the outputs need, producers first. Outputs of one stage stand together in order; those that
// nothing uses are left out.
std::vector<Tensor> computed_tensors(const Program& program);

}  // namespace ferry::lang
