#include "host/lower/signature.h"

#include "host/lang/sizes.h"
#include "host/lower/flops.h"

namespace ferry::lower {

using namespace ir;

namespace {

FunctionParameter parameter_of(const lang::Parameter& parameter) {
  FunctionParameter result{parameter.name, parameter.kind, parameter.direction, {}, {}};
  if (parameter.kind == ParameterKind::scalar) {
    result.scalar = parameter.scalar;
  } else if (parameter.direction == Direction::inout) {
    result.buffer = parameter.initial.buffer();
  } else if (parameter.direction == Direction::out) {
    Buffer buffer = *parameter.tensor.buffer();
    buffer.strides = parameter.strides;
    result.buffer = storage_of(std::move(buffer), Scope::parameter);
  } else {
    result.buffer = parameter.tensor.buffer();
    result.constant = parameter.constant;
  }
  return result;
}

}  // namespace

BufferRef storage_of(Buffer tensor, Scope scope) {
  tensor.scope = scope;
  return without_definition(std::move(tensor));
}

Function signature_of(const lang::Program& program) {
  Function function;
  function.name = program.name;
  function.lines = program.lines;
  function.symbols = lang::symbols_of(program);
  function.requirements = program.requirements;
  function.flops = count_flops(program);
  function.context = program.context;
  const auto sizes = lang::sizes_of(program);
  for (const lang::Parameter& parameter : program.parameters) {
    function.parameters.push_back(parameter_of(parameter));
    function.parameters.back().is_size = sizes.contains(parameter.scalar.get());
  }
  return function;
}

}  // namespace ferry::lower
