// Here and not in crosscompile/intrinsics because the check uses match_nest, a layer above it.
#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/function.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/tensorize/dot_nest.h"
#include "crosscompile/passes/tensorize/match_nest.h"
#include "ferry/intrinsics.h"

#include <algorithm>

namespace ferry {
namespace {

using namespace ir;

void check(const std::string& intrinsic, const NestFunction& function) {
  const std::string who = "tensor intrinsic '" + intrinsic + "': ";
  if (function.symbol.empty()) throw CompileError(who + "expected the name of a C function");
  if (function.definition == nullptr)
    throw CompileError(who + "expected what '" + function.symbol + "' means, see nest_function()");
  const Function& definition = *function.definition;
  const auto nest = definition.body.defined() ? passes::as_nest(definition.body) : std::nullopt;
  if (!nest || nest->loops.empty() || !nest->conditions.empty())
    throw CompileError(who + "expected what '" + function.symbol +
                       "' means as loops of constant extents, from 0, around one store");
  const auto check_parameter = [&](const BufferRef& buffer) {
    const std::vector<FunctionParameter>& parameters = definition.parameters;
    if (std::none_of(parameters.begin(), parameters.end(),
                     [&](const FunctionParameter& parameter) { return parameter.buffer == buffer; }))
      throw CompileError(who + "expected '" + buffer->name + "' among the parameters of '" + function.symbol + "'");
  };
  check_parameter(nest->store.as<Store>()->buffer);
  analysis::for_each_load(nest->store, [&](const Load& load) { check_parameter(load.buffer); });
  for (const FunctionParameter& parameter : definition.parameters)
    if (parameter.buffer == nullptr)
      throw CompileError(who + "expected tensors as parameters of '" + function.symbol + "', got '" + parameter.name +
                         "'");
  // A pattern that does not match itself would match nothing.
  std::string mismatch;
  const auto match = passes::match_nest(
      definition, *nest, [&](passes::NestMatch& found) { return passes::check_strides(definition, found); }, mismatch);
  if (!match) throw CompileError(who + "'" + function.symbol + "': " + mismatch);
  for (std::size_t i = 0; i < match->operands.size(); ++i)
    if (match->operands[i].buffer == nullptr)
      throw CompileError(who + "expected '" + function.symbol + "' to use its parameter '" +
                         definition.parameters[i].name + "'");
  for (std::size_t i = 0; i < match->symbols.size(); ++i)
    if (!match->symbols[i].defined())
      throw CompileError(who + "expected each symbol of '" + function.symbol +
                         "' to be how far a parameter steps along a loop, got '" + to_text(definition.symbols[i]) +
                         "'");
}

}  // namespace

void Context::add_tensor_intrinsic(const std::string& name, TensorIntrinsic intrinsic) {
  const std::vector<std::string> dots = passes::dot_names();
  if (name.empty()) throw CompileError("a tensor intrinsic needs a name");
  if (tensor_intrinsics_.contains(name) || std::find(dots.begin(), dots.end(), name) != dots.end())
    throw CompileError("tensor intrinsic '" + name + "' is registered already");
  check(name, intrinsic.update);
  if (intrinsic.reset) check(name, *intrinsic.reset);
  tensor_intrinsics_.emplace(name, std::move(intrinsic));
}

}  // namespace ferry
