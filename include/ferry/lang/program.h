// A kernel as the user wrote it: its parameters in calling order and the definitions of its outputs.
#pragma once

#include "ferry/lang/tensor.h"
#include "ferry/types.h"

#include <memory>
#include <string>
#include <vector>

namespace ferry {
class Context;  // ferry/intrinsics.h
namespace ir {
struct SourceLines;  // internal
}
}  // namespace ferry

namespace ferry::lang {

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::tensor;
  Direction direction = Direction::in;
  // Tensors: the placeholder (in), the computed tensor (out), or the computed tensor that takes the placeholder's place
  // (inout).
  Tensor tensor;
  Tensor initial;             // inout: the placeholder with the contents before the call
  std::vector<Expr> strides;  // strides of an output; inputs and inouts have those of their placeholder. Empty: dense
  Expr scalar;                // scalars: the variable
  bool constant = false;      // in tensors: the same contents in many calls (such as weights), so worth packing once
};

struct Program {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<ir::Requirement> requirements;
  // Defines the user's own intrinsics that the expressions call; may be null.
  std::shared_ptr<const Context> context;
  std::shared_ptr<const ir::SourceLines> lines = {};  // source locations; null: unknown or not wanted
  // Legal code that is probably a mistake, formatted like an error: "mm.tc:3:24: warning: ..."
  std::vector<std::string> warnings = {};
};

// Checks that every variable is a size of an input or a scalar parameter; that every tensor read is a parameter or
// computed; that names are unique; that every size is by itself a dimension of an input or is an int64 scalar; and that
// ranges and shapes use sizes only. Throws CompileError otherwise. Appends a scalar parameter for each variable of a
// stride that nothing binds, requirements that no two elements of a strided output share an address, and requirements
// of sizes under which the elements that computed tensors read exist.
Program make_program(std::string name, std::vector<Parameter> parameters,
                     std::vector<ir::Requirement> requirements = {}, std::shared_ptr<const Context> context = {});
Parameter in(Tensor tensor);
// An input whose contents are the same in many calls: what depends only on such inputs is computed once.
Parameter constant(Tensor tensor);
Parameter out(Tensor tensor, std::vector<Expr> strides = {});
Parameter inout(Tensor initial, Tensor result);
Parameter scalar(Expr variable);
// The caller gets "message" when the condition, over sizes and int64 scalars, does not hold.
ir::Requirement require(Expr condition, std::string message);

// Strides of a tensor parameter; empty when it is dense.
const std::vector<Expr>& strides_of(const Parameter& parameter);

// Returns sizes in order of first occurrence in the inputs' shapes, then int64 scalar parameters that shapes or bounds
// use.
std::vector<Expr> symbols_of(const Program& program);
// Returns every computed tensor that the outputs need, producers first. The outputs of one stage are adjacent and in
// order; unused ones are left out.
std::vector<Tensor> computed_tensors(const Program& program);

}  // namespace ferry::lang
