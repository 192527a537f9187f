#include "host/kernel/size_hints.h"

#include "crosscompile/ir/expr.h"
#include "host/kernel/argument_spec.h"

namespace ferry {

namespace {

void add_shape(const lang::Parameter& parameter, const Shape& shape, SizesByName& sizes) {
  const lang::Tensor& tensor = parameter.direction == Direction::inout ? parameter.initial : parameter.tensor;
  if (parameter.kind != ParameterKind::tensor || tensor.shape().size() != shape.size()) return;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (const auto* symbol = tensor.shape()[d].as<ir::Var>()) sizes.emplace(symbol->name, shape[d]);
}

}  // namespace

SizesByName size_hints(const lang::Program& program, const CallOptions& options) {
  SizesByName sizes = parse_sizes(options.sizes);
  for (const std::string& text : options.arguments) {
    const ArgumentSpec given = parse_argument(text);
    if (given.number)
      if (const auto* number = std::get_if<std::int64_t>(&*given.number)) sizes.emplace(given.name, *number);
    if (!given.shape) continue;
    for (const lang::Parameter& parameter : program.parameters)
      if (parameter.name == given.name) add_shape(parameter, *given.shape, sizes);
  }
  return sizes;
}

}  // namespace ferry
