#include <algorithm>

#include "base/printable.h"
#include "module/manifest.h"

namespace ferry {
namespace {

Status refuse(const std::string& where, const std::string& reason) {
  return Status(ErrorCode::invalid_argument, (where.empty() ? "manifest: " : "manifest: " + where + ": ") + reason);
}

Status check_count(const std::string& where, const char* what, std::size_t count, std::size_t most) {
  if (count <= most) return Status();
  return refuse(where, "expected at most " + std::to_string(most) + " " + what + ", got " + std::to_string(count));
}

// Names are shown to people, so they must not contain control characters or invisible ones.
Status check_text(const std::string& where, const char* what, const std::string& text, std::size_t least,
                  std::size_t most) {
  if (text.size() < least || text.size() > most) {
    return refuse(where, std::string(what) + ": expected " + std::to_string(least) + " to " + std::to_string(most) +
                             " bytes, got " + std::to_string(text.size()));
  }
  const std::string shown = printable(text);
  if (shown != text) {
    return refuse(where, std::string(what) + ": expected UTF-8 without control characters, got '" + shown + "'");
  }
  return Status();
}

Status check_name(const std::string& where, const char* what, const std::string& name) {
  return check_text(where, what, name, 1, kMaxNameBytes);
}

Status check_expr(const std::string& where, const char* what, const ManifestExpr& expr, std::size_t symbol_count) {
  const Status status = check_manifest_expr(expr, symbol_count);
  return status.is_ok() ? status : refuse(where, std::string(what) + ": " + status.message());
}

Status check_optional_expr(const std::string& where, const char* what, const ManifestExpr& expr, std::size_t symbols) {
  return expr.code.empty() ? Status() : check_expr(where, what, expr, symbols);
}

template <class Items, class Name>
Status check_distinct(const std::string& where, const char* what, const Items& items, Name name) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (name(items[i]) == name(items[j])) {
        return refuse(where,
                      std::string("expected ") + what + " with different names, got two '" + name(items[i]) + "'");
      }
    }
  }
  return Status();
}

Status check_parameter(const std::string& function, const ParameterInfo& parameter, std::size_t symbol_count) {
  FERRY_TRY(check_name(function, "parameter name", parameter.name));
  const std::string where = function + ": parameter '" + parameter.name + "'";
  if (!is_valid_dtype(static_cast<std::uint8_t>(parameter.dtype))) return refuse(where, "expected a known dtype");
  const auto direction = static_cast<unsigned>(parameter.direction);
  if (direction < 1 || direction > 3) return refuse(where, "expected in, out or inout");
  if (parameter.kind == ParameterKind::scalar) {
    if (parameter.direction != Direction::in) return refuse(where, "expected a scalar to be in");
    if (!parameter.shape.empty() || !parameter.strides.empty()) return refuse(where, "expected a scalar without sizes");
    return Status();
  }
  if (parameter.kind != ParameterKind::tensor) return refuse(where, "expected a tensor or a scalar");
  FERRY_TRY(check_count(where, "dimensions", parameter.shape.size(), kMaxRank));
  if (!parameter.strides.empty() && parameter.strides.size() != parameter.shape.size()) {
    return refuse(where, "expected " + std::to_string(parameter.shape.size()) + " strides, got " +
                             std::to_string(parameter.strides.size()));
  }
  for (const ManifestExpr& size : parameter.shape) FERRY_TRY(check_expr(where, "size", size, symbol_count));
  for (const ManifestExpr& stride : parameter.strides) FERRY_TRY(check_expr(where, "stride", stride, symbol_count));
  return Status();
}

bool binds(const ParameterInfo& parameter, const std::string& symbol, std::uint32_t index) {
  if (parameter.kind == ParameterKind::scalar) return parameter.dtype == DType::i64 && parameter.name == symbol;
  if (parameter.direction == Direction::out) return false;
  return std::find(parameter.shape.begin(), parameter.shape.end(), manifest_symbol(index)) != parameter.shape.end();
}

Status check_operand(const std::string& where, const FunctionInfo& function, const Operand& operand) {
  const std::size_t symbols = function.symbols.size(), parameters = function.parameters.size();
  const bool wants_tensor = operand.kind == OperandKind::argument;
  FERRY_TRY(check_optional_expr(where, "operand's offset", operand.offset, symbols));
  switch (operand.kind) {
    case OperandKind::argument:
    case OperandKind::scalar:
      if (operand.index < parameters &&
          (function.parameters[operand.index].kind == ParameterKind::tensor) == wants_tensor)
        return Status();
      return refuse(where, std::string("expected an operand that is a ") + (wants_tensor ? "tensor" : "scalar") +
                               " parameter, got number " + std::to_string(operand.index));
    case OperandKind::symbol:
      if (operand.index < symbols) return Status();
      return refuse(where, "expected an operand that is a symbol, got number " + std::to_string(operand.index));
    case OperandKind::call_workspace: return Status();
  }
  return refuse(where, "expected a known kind of operand");
}

Status check_plan(const FunctionInfo& function) {
  const std::size_t symbols = function.symbols.size();
  FERRY_TRY(check_count(function.name, "steps", function.plan.size(), kMaxSteps));
  for (const Step& step : function.plan) {
    const Launch& launch = step.launch;
    if (step.kind != StepKind::launch) return refuse(function.name, "expected a known kind of step");
    FERRY_TRY(check_name(function.name, "kernel name", launch.kernel));
    const std::string where = function.name + ": kernel '" + launch.kernel + "'";
    for (const ManifestExpr& extent : launch.grid) FERRY_TRY(check_optional_expr(where, "grid", extent, symbols));
    for (const ManifestExpr& extent : launch.block) FERRY_TRY(check_optional_expr(where, "block", extent, symbols));
    FERRY_TRY(check_optional_expr(where, "shared memory", launch.shared_bytes, symbols));
    FERRY_TRY(check_count(where, "operands", launch.operands.size(), kMaxOperands));
    for (const Operand& operand : launch.operands) FERRY_TRY(check_operand(where, function, operand));
  }
  return Status();
}

Status check_function(const FunctionInfo& function) {
  FERRY_TRY(check_name("", "function name", function.name));
  const std::string& where = function.name;
  FERRY_TRY(check_name(where, "symbol of its code", function.symbol));
  FERRY_TRY(check_count(where, "symbols", function.symbols.size(), kMaxSymbols));
  FERRY_TRY(check_count(where, "parameters", function.parameters.size(), kMaxParameters));
  FERRY_TRY(check_count(where, "preconditions", function.preconditions.size(), kMaxPreconditions));
  FERRY_TRY(check_count(where, "messages", function.messages.size(), kMaxMessages));

  const std::size_t symbols = function.symbols.size();
  for (const std::string& symbol : function.symbols) FERRY_TRY(check_name(where, "symbol name", symbol));
  for (const ParameterInfo& parameter : function.parameters) FERRY_TRY(check_parameter(where, parameter, symbols));
  FERRY_TRY(check_distinct(where, "symbols", function.symbols, [](const std::string& name) { return name; }));
  FERRY_TRY(check_distinct(where, "parameters", function.parameters, [](const ParameterInfo& p) { return p.name; }));
  for (std::uint32_t i = 0; i < symbols; ++i) {
    const bool bound = std::any_of(function.parameters.begin(), function.parameters.end(),
                                   [&](const ParameterInfo& p) { return binds(p, function.symbols[i], i); });
    if (!bound) {
      return refuse(
          where, "expected symbol '" + function.symbols[i] + "' to be a size of an input or an i64 scalar parameter");
    }
  }
  for (const Precondition& precondition : function.preconditions) {
    FERRY_TRY(check_expr(where, "precondition", precondition.condition, symbols));
    FERRY_TRY(check_text(where, "precondition's message", precondition.message, 0, kMaxMessageBytes));
  }
  for (const std::string& message : function.messages) {
    FERRY_TRY(check_text(where, "message", message, 0, kMaxMessageBytes));
  }
  FERRY_TRY(check_optional_expr(where, "workspace of a call", function.call_workspace, symbols));
  FERRY_TRY(check_optional_expr(where, "workspace of a thread", function.thread_workspace, symbols));
  FERRY_TRY(check_optional_expr(where, "arithmetic", function.flops, symbols));
  return check_plan(function);
}

}  // namespace

Status check_manifest(const Manifest& manifest) {
  FERRY_TRY(check_name("", "architecture", manifest.arch));
  FERRY_TRY(check_text("", "target", manifest.target, 0, kMaxMessageBytes));
  FERRY_TRY(check_count("", "features", manifest.features.size(), kMaxFeatures));
  for (const std::string& feature : manifest.features) FERRY_TRY(check_name("", "feature name", feature));
  if (!std::is_sorted(manifest.features.begin(), manifest.features.end())) {
    return refuse("", "expected sorted features");
  }
  FERRY_TRY(check_count("", "functions", manifest.functions.size(), kMaxFunctions));
  for (const FunctionInfo& function : manifest.functions) FERRY_TRY(check_function(function));
  return check_distinct("", "functions", manifest.functions, [](const FunctionInfo& f) { return f.name; });
}

}  // namespace ferry
