#include "host/kernel/call_plan.h"

#include <algorithm>
#include <cstring>

#include "base/quantity_text.h"
#include "host/client/bind.h"
#include "host/client/scalar.h"
#include "host/client/state.h"
#include "host/kernel/argument_spec.h"
#include "host/kernel/call_inputs.h"
#include "host/kernel/tensor_file.h"

namespace ferry {

namespace {

using session::SymbolValues;

// Returns the specification of each parameter, null if there is none.
std::vector<const ArgumentSpec*> match(const FunctionInfo& function, const std::vector<ArgumentSpec>& specs) {
  std::vector<const ArgumentSpec*> matched(function.parameters.size());
  for (const ArgumentSpec& spec : specs) {
    std::vector<std::string> names;
    bool found = false;
    for (std::size_t p = 0; p < function.parameters.size(); ++p) {
      const ParameterInfo& parameter = function.parameters[p];
      if (parameter.direction != Direction::out) names.push_back(parameter.name);
      if (parameter.name != spec.name) continue;
      if (parameter.direction == Direction::out) {
        throw OptionError(Option::argument, spec.text + ": " + spec.name + " is an output, which ferry makes itself");
      }
      if (matched[p] != nullptr)
        throw OptionError(Option::argument, spec.text + ": expected one value for " + spec.name + ", got a second one");
      const bool is_tensor = parameter.kind == ParameterKind::tensor;
      if (is_tensor != !spec.number) {
        throw OptionError(Option::argument, spec.text + ": expected " + (is_tensor ? "a tensor" : "a number") +
                                                " for " + spec.name + " of " + signature_text(function));
      }
      matched[p] = &spec;
      found = true;
    }
    if (!found) {
      throw OptionError(Option::argument, spec.text + ": " + function.name + " has no input '" + spec.name +
                                              "'; expected one of: " + join(", ", names));
    }
  }
  return matched;
}

// Returns the sizes given by name; rejects those that contradict the arguments.
SymbolValues given_sizes(const FunctionInfo& function, const std::map<std::string, std::int64_t>& sizes,
                         const SymbolValues& by_arguments) {
  SymbolValues known(function.symbols.size());
  for (const auto& [name, size] : sizes) {
    const auto symbol = std::find(function.symbols.begin(), function.symbols.end(), name);
    if (symbol == function.symbols.end()) {
      const std::string has =
          function.symbols.empty() ? "; all its sizes are fixed" : "; expected one of: " + join(", ", function.symbols);
      throw OptionError(Option::size,
                        name + "=" + std::to_string(size) + ": " + function.name + " has no size '" + name + "'" + has);
    }
    const auto s = static_cast<std::size_t>(symbol - function.symbols.begin());
    if (by_arguments[s] && *by_arguments[s] != size) {
      throw OptionError(Option::size, name + "=" + std::to_string(size) + ": the arguments say that " + name + " is " +
                                          std::to_string(*by_arguments[s]));
    }
    known[s] = size;
  }
  return known;
}

// Moves the dense elements of a file to their strided positions. Returns false when two different ones share a
// position.
bool spread(CallPlan& plan, std::size_t parameter) {
  const std::size_t size = dtype_bytes(plan.dtypes[parameter]);
  std::vector<std::uint8_t>& bytes = plan.contents[parameter].bytes;
  std::vector<std::uint8_t> places(static_cast<std::size_t>(plan.places[parameter]) * size);
  std::vector<bool> taken(static_cast<std::size_t>(plan.places[parameter]));
  bool agree = true;
  detail::for_each_place(plan.shapes[parameter], plan.strides[parameter], [&](std::size_t element, std::size_t place) {
    const std::uint8_t* from = bytes.data() + element * size;
    std::uint8_t* into = places.data() + place * size;
    if (taken[place]) agree = agree && memcmp(into, from, size) == 0;
    taken[place] = true;
    memcpy(into, from, size);
  });
  bytes = std::move(places);
  return agree;
}

void draw_input(const FunctionInfo& function, CallPlan& plan, std::size_t parameter, const ArgumentSpec* spec) {
  InputContent& content = plan.contents[parameter];
  try {
    content.bytes = drawn_bytes(function, plan, parameter, content);
  } catch (const UsageError& error) {
    if (spec == nullptr) throw;
    throw OptionError(Option::argument, spec->text + ": " + error.what());
  }
}

Argument::Scalar scalar_value(const FunctionInfo& function, const ParameterInfo& parameter, const ArgumentSpec* spec,
                              const SymbolValues& known) {
  if (spec != nullptr) return *spec->number;
  const auto symbol = std::find(function.symbols.begin(), function.symbols.end(), parameter.name);
  if (symbol != function.symbols.end()) {
    if (const auto& value = known[static_cast<std::size_t>(symbol - function.symbols.begin())]) return *value;
  }
  throw OptionError(Option::argument,
                    parameter.name + ": expected " + parameter.name + "=NUMBER for " + signature_text(function));
}

std::vector<Shape> shapes_by(const FunctionInfo& function, const SymbolValues& known) {
  if (std::find(known.begin(), known.end(), std::nullopt) == known.end())
    return session::shapes_of(function, known, {});
  try {
    return session::shapes_of(function, known, "give them by name, or arguments with shapes");
  } catch (const Error& error) {
    throw OptionError(Option::sizes, error.what());
  }
}

}  // namespace

std::uint64_t CallPlan::bytes(std::size_t parameter) const {
  std::uint64_t bytes = dtype_bytes(dtypes[parameter]);
  for (const std::int64_t extent : shapes[parameter]) bytes *= static_cast<std::uint64_t>(extent);
  return bytes;
}

std::vector<std::uint8_t> CallPlan::host_copy(std::size_t parameter) const {
  const InputContent& content = contents[parameter];
  if (!content.bytes.empty()) return content.bytes;
  std::vector<std::uint8_t> copy(static_cast<std::size_t>(places[parameter]) * dtype_bytes(dtypes[parameter]));
  fill(content.kind, content.seed, dtypes[parameter], 0, copy.size() / dtype_bytes(dtypes[parameter]), copy.data());
  return copy;
}

std::uint64_t traffic_bytes(const FunctionInfo& function, const std::vector<Shape>& shapes) {
  std::uint64_t total = 0;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    const ParameterInfo& parameter = function.parameters[p];
    if (parameter.kind != ParameterKind::tensor) continue;
    total += detail::tensor_bytes(parameter.dtype, shapes[p]) * (parameter.direction == Direction::inout ? 2 : 1);
  }
  return total;
}

void bind_plan(const FunctionInfo& function, CallPlan& plan) {
  const std::size_t count = function.parameters.size();
  std::vector<ArgumentShape> checked;
  for (std::size_t p = 0; p < count; ++p) {
    ArgumentShape argument{function.parameters[p].kind, plan.dtypes[p], plan.shapes[p]};
    if (plan.scalars[p])
      argument.scalar = static_cast<std::int64_t>(session::scalar_bits(function, p, *plan.scalars[p]));
    checked.push_back(std::move(argument));
  }
  const Result<BoundCall> bound = bind_call(function, checked);
  if (!bound.is_ok()) throw UsageError(bound.status().message());
  plan.symbols = bound.value().symbols;
  plan.strides.resize(count);
  for (std::size_t p = 0; p < count; ++p) {
    plan.places.push_back(static_cast<std::int64_t>(bound.value().tensor_bytes[p] / dtype_bytes(plan.dtypes[p])));
    for (const ManifestExpr& stride : function.parameters[p].strides)
      plan.strides[p].push_back(evaluate(stride, plan.symbols).value());
  }
}

CallPlan plan_call(const FunctionInfo& function, const CallOptions& options, InputRange range) {
  std::vector<ArgumentSpec> specs;
  const std::vector<std::string> names = parameter_names(function);
  for (const std::string& text : options.arguments) specs.push_back(parse_argument(text, names));
  for (const auto& [name, tensor] : options.given) {
    ArgumentSpec& spec = specs.emplace_back();
    spec.name = name;
    spec.text = name + "=@" + tensor.source;
    spec.file = tensor.source;
  }
  const std::vector<const ArgumentSpec*> matched = match(function, specs);

  const std::size_t count = function.parameters.size();
  CallPlan plan;
  plan.shapes.resize(count);
  plan.dtypes.resize(count);
  plan.contents.resize(count);
  plan.scalars.resize(count);
  std::vector<session::PartialArgument> partial(count);
  for (std::size_t p = 0; p < count; ++p) {
    const ArgumentSpec* spec = matched[p];
    plan.dtypes[p] = function.parameters[p].dtype;
    plan.contents[p].seed = options.seed + p;
    plan.contents[p].distribution = distribution_of(function.parameters[p], spec, range);
    if (spec == nullptr) continue;
    plan.contents[p].kind = spec->kind;
    if (spec->dtype) plan.dtypes[p] = *spec->dtype;
    partial[p].shape = spec->shape;
    if (!spec->file.empty()) {
      const auto given = options.given.find(spec->name);
      TensorFile file = given != options.given.end()
                            ? TensorFile{given->second.dtype, given->second.shape, given->second.bytes}
                            : read_tensor(spec->file);
      if (file.dtype != plan.dtypes[p])
        throw OptionError(Option::argument, spec->text + ": expected elements of " + dtype_name(plan.dtypes[p]) +
                                                " for " + spec->name + ", got " + dtype_name(file.dtype) +
                                                " in the file: convert them before they are saved");
      partial[p].shape = file.shape;
      plan.contents[p].bytes = std::move(file.bytes);
      plan.contents[p].file = spec->file;
    }
    if (spec->number && std::holds_alternative<std::int64_t>(*spec->number)) {
      partial[p].scalar = std::get<std::int64_t>(*spec->number);
    }
  }
  for (std::size_t p = 0; p < count; ++p) partial[p].dtype = plan.dtypes[p];
  check_ranks(function, partial);
  SymbolValues by_arguments;
  solve_symbols(function, partial, by_arguments);
  SymbolValues known = given_sizes(function, parse_sizes(options.sizes), by_arguments);
  solve_symbols(function, partial, known);
  for (std::size_t p = 0; p < count; ++p) {
    if (function.parameters[p].kind == ParameterKind::scalar) {
      plan.scalars[p] = scalar_value(function, function.parameters[p], matched[p], known);
    }
  }
  std::vector<Shape> shapes = shapes_by(function, known);

  for (std::size_t p = 0; p < count; ++p) plan.shapes[p] = partial[p].shape ? *partial[p].shape : std::move(shapes[p]);
  bind_plan(function, plan);
  for (std::size_t p = 0; p < count; ++p) {
    if (plan.contents[p].distribution) {
      draw_input(function, plan, p, matched[p]);
      continue;
    }
    if (!plan.strides[p].empty() && !plan.contents[p].bytes.empty() && !spread(plan, p)) {
      throw OptionError(Option::argument,
                        matched[p]->text + ": " + function.parameters[p].name +
                            ": expected equal elements where its strides let several share one place");
    }
  }
  return plan;
}

}  // namespace ferry
