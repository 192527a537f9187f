#include "host/client/bind.h"

#include <algorithm>

#include "base/throw_status.h"

namespace ferry::session {

namespace {

// Returns the symbol if the expression is nothing else.
std::optional<std::size_t> bare_symbol(const ManifestExpr& expr) {
  if (expr.code.size() != 1 || expr.code[0].op != ManifestOp::symbol) return std::nullopt;
  return static_cast<std::size_t>(expr.code[0].value);
}

std::optional<std::int64_t> value_of(const ManifestExpr& expr, const SymbolValues& known) {
  std::vector<std::int64_t> values;
  for (const auto& value : known) values.push_back(value.value_or(0));
  for (const ManifestInstruction& instruction : expr.code) {
    if (instruction.op == ManifestOp::symbol && !known[static_cast<std::size_t>(instruction.value)])
      return std::nullopt;
  }
  const Result<std::int64_t> value = evaluate(expr, values);
  if (!value.is_ok()) return std::nullopt;
  return value.value();
}

void learn_from_shape(const ParameterInfo& parameter, const Shape& shape, SymbolValues& known) {
  if (shape.size() != parameter.shape.size()) return;  // left to bind_call to reject
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto symbol = bare_symbol(parameter.shape[d]);
    if (symbol && !known[*symbol]) known[*symbol] = shape[d];
  }
}

// With one unknown dimension, the number of elements determines it.
bool learn_from_count(const ParameterInfo& parameter, std::uint64_t elements, SymbolValues& known) {
  std::optional<std::size_t> unknown;
  std::uint64_t others = 1;
  for (const ManifestExpr& dimension : parameter.shape) {
    if (const auto value = value_of(dimension, known)) {
      others *= static_cast<std::uint64_t>(std::max<std::int64_t>(*value, 0));
      continue;
    }
    const auto symbol = bare_symbol(dimension);
    if (!symbol || unknown) return false;
    unknown = symbol;
  }
  if (!unknown || others == 0 || elements % others != 0) return false;
  known[*unknown] = static_cast<std::int64_t>(elements / others);
  return true;
}

}  // namespace

void check_ranks(const FunctionInfo& function, const std::vector<PartialArgument>& arguments) {
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    const ParameterInfo& parameter = function.parameters[p];
    if (!arguments[p].shape || arguments[p].shape->size() == parameter.shape.size()) continue;
    std::string expected;
    for (const ManifestExpr& dimension : parameter.shape) {
      expected += (expected.empty() ? "" : ",") + to_text(dimension, function.symbols);
    }
    throw Error(ErrorCode::invalid_argument, function.name + ": argument " + std::to_string(p + 1) + " '" +
                                                 parameter.name + "': expected " + dtype_name(parameter.dtype) + "[" +
                                                 expected + "], got " +
                                                 shape_text(arguments[p].dtype, *arguments[p].shape));
  }
}

void solve_symbols(const FunctionInfo& function, const std::vector<PartialArgument>& arguments, SymbolValues& known) {
  known.resize(function.symbols.size());
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    const ParameterInfo& parameter = function.parameters[p];
    if (parameter.kind == ParameterKind::scalar && arguments[p].scalar) {
      const auto symbol = std::find(function.symbols.begin(), function.symbols.end(), parameter.name);
      if (symbol == function.symbols.end()) continue;
      auto& value = known[static_cast<std::size_t>(symbol - function.symbols.begin())];
      if (!value) value = arguments[p].scalar;
    } else if (arguments[p].shape) {
      learn_from_shape(parameter, *arguments[p].shape, known);
    }
  }
  for (bool learned = true; learned;) {
    learned = false;
    for (std::size_t p = 0; p < function.parameters.size(); ++p) {
      if (!arguments[p].flat_elements) continue;
      learned = learn_from_count(function.parameters[p], *arguments[p].flat_elements, known) || learned;
    }
  }
}

void check_sizes(const FunctionInfo& function, const SymbolValues& known) {
  std::vector<std::int64_t> values;
  for (const auto& value : known) values.push_back(value.value_or(0));
  FunctionInfo decided = function;
  for (ParameterInfo& parameter : decided.parameters) {
    for (ManifestExpr& dimension : parameter.shape) {
      if (!value_of(dimension, known)) dimension.code = {{ManifestOp::constant, 0}};
    }
  }
  value_or_throw(infer_shapes(decided, values));
  // Preconditions depend on sizes only, so they are checked by a call whose arguments are the sizes themselves.
  FunctionInfo sizes;
  sizes.name = function.name;
  sizes.symbols = function.symbols;
  std::vector<ArgumentShape> arguments;
  for (std::size_t s = 0; s < function.symbols.size(); ++s) {
    ParameterInfo size;
    size.name = function.symbols[s];
    size.kind = ParameterKind::scalar;
    size.dtype = DType::i64;
    sizes.parameters.push_back(std::move(size));
    arguments.push_back({ParameterKind::scalar, DType::i64, {}, values[s]});
  }
  for (const Precondition& precondition : function.preconditions) {
    if (value_of(precondition.condition, known)) sizes.preconditions.push_back(precondition);
  }
  value_or_throw(bind_call(sizes, arguments));
}

std::vector<Shape> shapes_of(const FunctionInfo& function, const SymbolValues& known, const std::string& advice) {
  std::string missing;
  std::vector<std::int64_t> values;
  for (std::size_t s = 0; s < function.symbols.size(); ++s) {
    if (!known[s]) missing += (missing.empty() ? "" : ", ") + function.symbols[s];
    values.push_back(known[s].value_or(0));
  }
  if (!missing.empty()) {
    throw Error(ErrorCode::invalid_argument, function.name + ": the arguments do not say what " + missing +
                                                 (missing.find(',') == std::string::npos ? " is; " : " are; ") +
                                                 advice);
  }
  return value_or_throw(infer_shapes(function, values));
}

}  // namespace ferry::session
