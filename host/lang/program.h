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
  Tensor initial;  // inout: the placeholder whose contents the call starts from
  Expr scalar;     // scalars: the variable
};

struct Program {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<ir::Requirement> requirements;
};

// Checks that every variable is a size of an input or a scalar parameter and every tensor read is a parameter or
// computed; names are unique; every size stands bare in a dimension of an input or is an int64 scalar; ranges and
// shapes use sizes only. CompileError otherwise.
Program make_program(std::string name, std::vector<Parameter> parameters,
                     std::vector<ir::Requirement> requirements = {});
Parameter in(Tensor tensor);
Parameter out(Tensor tensor);
Parameter inout(Tensor initial, Tensor result);
Parameter scalar(Expr variable);

// Sizes in order of first occurrence in the inputs' shapes, then int64 scalar parameters that shapes or bounds use.
std::vector<Expr> symbols_of(const Program& program);
// Every computed tensor the outputs need, producers first. Outputs of one stage stand together in order; those that
// nothing uses are left out.
std::vector<Tensor> computed_tensors(const Program& program);

}  // namespace ferry::lang
