#include "host/kernel/size_hints.h"

#include <filesystem>
#include <optional>

#include "crosscompile/ir/expr.h"
#include "ferry/error.h"
#include "host/client/npy/npy.h"
#include "host/kernel/argument_spec.h"

namespace ferry {

namespace {

void add_shape(const lang::Parameter& parameter, const Shape& shape, SizesByName& sizes) {
  const lang::Tensor& tensor = parameter.direction == Direction::inout ? parameter.initial : parameter.tensor;
  if (parameter.kind != ParameterKind::tensor || tensor.shape().size() != shape.size()) return;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (const auto* symbol = tensor.shape()[d].as<ir::Var>()) sizes.emplace(symbol->name, shape[d]);
}

// Returns the shape of a tensor in a file. Pipes are read once, by the call.
std::optional<Shape> shape_in(const std::string& file) {
  std::error_code error;
  if (file.empty() || !std::filesystem::is_regular_file(file, error)) return std::nullopt;
  try {
    return npy::read_shape(file);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

// Returns the sizes that the texts give; `add` takes those in the shape of a parameter, given by its name.
template <class AddShape>
SizesByName hints_of(const CallOptions& options, const std::vector<std::string>& names, const AddShape& add) {
  SizesByName sizes = parse_sizes(options.sizes);
  for (const std::string& text : options.arguments) {
    const ArgumentSpec given = parse_argument(text, names);
    if (given.number)
      if (const auto* number = std::get_if<std::int64_t>(&*given.number)) sizes.emplace(given.name, *number);
    if (given.shape) add(given.name, *given.shape, sizes);
    if (const std::optional<Shape> shape = shape_in(given.file)) add(given.name, *shape, sizes);
  }
  for (const auto& [name, tensor] : options.given) add(name, tensor.shape, sizes);
  return sizes;
}

}  // namespace

SizesByName size_hints(const lang::Program& program, const CallOptions& options) {
  std::vector<std::string> names;
  for (const lang::Parameter& parameter : program.parameters) names.push_back(parameter.name);
  return hints_of(options, names, [&](const std::string& name, const Shape& shape, SizesByName& sizes) {
    for (const lang::Parameter& parameter : program.parameters)
      if (parameter.name == name) add_shape(parameter, shape, sizes);
  });
}

SizesByName size_hints(const FunctionInfo& function, const CallOptions& options) {
  return hints_of(options, parameter_names(function),
                  [&](const std::string& name, const Shape& shape, SizesByName& sizes) {
                    for (const ParameterInfo& parameter : function.parameters) {
                      if (parameter.name != name || parameter.shape.size() != shape.size()) continue;
                      for (std::size_t d = 0; d < shape.size(); ++d) {
                        const std::vector<ManifestInstruction>& size = parameter.shape[d].code;
                        if (size.size() == 1 && size[0].op == ManifestOp::symbol)
                          sizes.emplace(function.symbols[static_cast<std::size_t>(size[0].value)], shape[d]);
                      }
                    }
                  });
}

}  // namespace ferry
