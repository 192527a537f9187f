#include <limits>

#include "module/manifest.h"

namespace ferry {
namespace {

constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::int64_t>::max();
// Instructions of a condition that is still read at a glance.
constexpr std::size_t kMostShown = 24;

struct Symbols {
  std::vector<std::int64_t> values;
  std::vector<bool> bound;

  explicit Symbols(std::size_t count) : values(count), bound(count) {}

  // Returns whether all symbols of an expression are bound.
  bool knows(const ManifestExpr& expr) const {
    for (const ManifestInstruction& instruction : expr.code) {
      if (instruction.op != ManifestOp::symbol) continue;
      const auto index = static_cast<std::uint64_t>(instruction.value);
      if (index >= bound.size() || !bound[static_cast<std::size_t>(index)]) return false;
    }
    return true;
  }

  // Returns the value of an expression; nothing if one of its symbols is unbound or the evaluation overflows.
  std::optional<std::int64_t> value(const ManifestExpr& expr) const {
    if (!knows(expr)) return std::nullopt;
    const Result<std::int64_t> result = evaluate(expr, values);
    return result.is_ok() ? std::optional(result.value()) : std::nullopt;
  }
};

Status refuse(const FunctionInfo& function, const std::string& reason) {
  return Status(ErrorCode::invalid_argument, function.name + ": " + reason);
}

std::string argument_name(const FunctionInfo& function, std::size_t index) {
  return "argument " + std::to_string(index + 1) + " '" + function.parameters[index].name + "'";
}

bool is_symbol(const ManifestExpr& expr, std::uint32_t index) {
  return expr.code.size() == 1 && expr.code[0] == ManifestInstruction{ManifestOp::symbol, std::int64_t{index}};
}

// Renders known sizes as numbers and unknown ones as expressions: f32[64,N].
std::string expected_text(const FunctionInfo& function, const ParameterInfo& parameter, const Symbols& symbols) {
  if (parameter.kind == ParameterKind::scalar) return std::string("a scalar ") + dtype_name(parameter.dtype);
  std::string text = std::string(dtype_name(parameter.dtype)) + "[";
  for (const ManifestExpr& size : parameter.shape) {
    if (text.back() != '[') text += ',';
    const std::optional<std::int64_t> value = symbols.value(size);
    text += value ? std::to_string(*value) : to_text(size, function.symbols);
  }
  return text + "]";
}

std::string got_text(const ArgumentShape& argument) {
  return argument.kind == ParameterKind::scalar ? std::string("a scalar ") + dtype_name(argument.dtype)
                                                : shape_text(argument.dtype, argument.shape);
}

Status mismatch(const FunctionInfo& function, std::size_t index, const Symbols& symbols,
                const ArgumentShape& argument) {
  return refuse(function, argument_name(function, index) + ": expected " +
                              expected_text(function, function.parameters[index], symbols) + ", got " +
                              got_text(argument));
}

// Checks that kind, dtype and rank match and that no size is negative.
Status check_form(const FunctionInfo& function, std::size_t index, const Symbols& symbols,
                  const ArgumentShape& argument) {
  const ParameterInfo& parameter = function.parameters[index];
  if (argument.kind != parameter.kind || argument.dtype != parameter.dtype) {
    return mismatch(function, index, symbols, argument);
  }
  if (parameter.kind == ParameterKind::scalar) return Status();
  if (argument.shape.size() != parameter.shape.size()) return mismatch(function, index, symbols, argument);
  for (const std::int64_t size : argument.shape) {
    if (size < 0) {
      return refuse(function,
                    argument_name(function, index) + ": expected sizes of at least 0, got " + got_text(argument));
    }
  }
  return Status();
}

void bind(Symbols& symbols, std::size_t index, std::int64_t value) {
  if (symbols.bound[index]) return;
  symbols.bound[index] = true;
  symbols.values[index] = value;
}

void bind_from(const FunctionInfo& function, const ParameterInfo& parameter, const ArgumentShape& argument,
               Symbols& symbols) {
  for (std::uint32_t s = 0; s < function.symbols.size(); ++s) {
    if (parameter.kind == ParameterKind::scalar) {
      if (parameter.dtype == DType::i64 && parameter.name == function.symbols[s]) bind(symbols, s, argument.scalar);
      continue;
    }
    for (std::size_t d = 0; d < parameter.shape.size(); ++d) {
      if (is_symbol(parameter.shape[d], s)) bind(symbols, s, argument.shape[d]);
    }
  }
}

Result<Symbols> bind_all(const FunctionInfo& function, std::span<const ArgumentShape> arguments, GivenArguments given) {
  const std::size_t count = function.parameters.size();
  if (arguments.size() != count) {
    return refuse(function, "expected " + std::to_string(count) + (count == 1 ? " argument" : " arguments") + ", got " +
                                std::to_string(arguments.size()));
  }
  Symbols symbols(function.symbols.size());
  for (std::size_t i = 0; i < count; ++i) {
    const ParameterInfo& parameter = function.parameters[i];
    const bool is_output = parameter.kind == ParameterKind::tensor && parameter.direction == Direction::out;
    if (given == GivenArguments::inputs && is_output) continue;
    if (given == GivenArguments::constants && !parameter.is_constant) continue;
    FERRY_TRY(check_form(function, i, symbols, arguments[i]));
    if (!is_output) bind_from(function, parameter, arguments[i], symbols);
  }
  for (std::size_t s = 0; s < symbols.bound.size() && given != GivenArguments::constants; ++s) {
    if (!symbols.bound[s]) return refuse(function, "no argument says what '" + function.symbols[s] + "' is");
  }
  return symbols;
}

// Names an expression in error messages. The text is built only then, because this code runs for every size of every
// call.
struct Purpose {
  static constexpr std::size_t kNoArgument = SIZE_MAX;
  const char* what;
  std::size_t argument = kNoArgument;

  std::string text(const FunctionInfo& function) const {
    return argument == kNoArgument ? std::string(what) : argument_name(function, argument) + ": " + what;
  }
};

Result<std::int64_t> evaluate_for(const FunctionInfo& function, Purpose purpose, const ManifestExpr& expr,
                                  std::span<const std::int64_t> symbols) {
  if (expr.code.empty()) return std::int64_t{0};
  Result<std::int64_t> value = evaluate(expr, symbols);
  if (value.is_ok()) return value;
  return refuse(function, purpose.text(function) + " " + to_text(expr, function.symbols) + ": " +
                              value.status().message() + symbols_text(expr, function.symbols, symbols));
}

// Returns the number of bytes from the first element to the end of the last; nothing if that overflows or a stride is
// negative.
std::optional<std::uint64_t> strided_bytes(DType dtype, std::span<const std::int64_t> shape,
                                           std::span<const std::int64_t> strides) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t reach = 0;
    if (shape[d] == 0) return 0;
    if (strides[d] < 0 || __builtin_mul_overflow(shape[d] - 1, strides[d], &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return std::nullopt;
    }
  }
  std::int64_t bytes = 0;
  if (__builtin_add_overflow(last, std::int64_t{1}, &last) ||
      __builtin_mul_overflow(last, static_cast<std::int64_t>(dtype_bytes(dtype)), &bytes)) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(bytes);
}

Result<std::uint64_t> tensor_bytes(const FunctionInfo& function, std::size_t index, const ArgumentShape& argument,
                                   std::span<const std::int64_t> symbols) {
  const ParameterInfo& parameter = function.parameters[index];
  std::optional<std::uint64_t> bytes;
  if (parameter.strides.empty()) {
    bytes = dense_bytes(parameter.dtype, argument.shape);
  } else {
    std::vector<std::int64_t> strides;
    for (const ManifestExpr& stride : parameter.strides) {
      FERRY_ASSIGN(const std::int64_t value, evaluate_for(function, {"stride", index}, stride, symbols));
      if (value < 0) {
        return refuse(function, argument_name(function, index) + ": expected strides of at least 0, got " +
                                    std::to_string(value));
      }
      strides.push_back(value);
    }
    bytes = strided_bytes(parameter.dtype, argument.shape, strides);
  }
  if (bytes) return *bytes;
  return refuse(function, argument_name(function, index) + ": expected a tensor of fewer than 2^63 bytes, got " +
                              got_text(argument));
}

Status check_precondition(const FunctionInfo& function, const Precondition& precondition,
                          std::span<const std::int64_t> symbols) {
  FERRY_ASSIGN(const std::int64_t holds, evaluate_for(function, {"requires"}, precondition.condition, symbols));
  if (holds != 0) return Status();
  // A message says what is expected in the user's words; a long condition, as of a reshape, would hide it.
  const bool is_long = precondition.condition.code.size() > kMostShown && !precondition.message.empty();
  std::string reason = is_long ? std::string() : "requires " + to_text(precondition.condition, function.symbols);
  reason += symbols_text(precondition.condition, function.symbols, symbols);
  if (is_long) return refuse(function, precondition.message + reason);
  return refuse(function, precondition.message.empty() ? reason : precondition.message + " (" + reason + ")");
}

}  // namespace

std::optional<std::uint64_t> dense_bytes(DType dtype, std::span<const std::int64_t> shape) {
  for (const std::int64_t size : shape) {
    if (size <= 0) return size == 0 ? std::optional<std::uint64_t>(0) : std::nullopt;
  }
  std::uint64_t bytes = dtype_bytes(dtype);
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes) || bytes > kMaxBytes) {
      return std::nullopt;
    }
  }
  return bytes;
}

Result<std::vector<std::int64_t>> bind_symbols(const FunctionInfo& function, std::span<const ArgumentShape> arguments) {
  FERRY_ASSIGN(Symbols symbols, bind_all(function, arguments, GivenArguments::inputs));
  return std::move(symbols.values);
}

Result<BoundCall> bind_call(const FunctionInfo& function, std::span<const ArgumentShape> arguments,
                            GivenArguments given) {
  FERRY_ASSIGN(Symbols symbols, bind_all(function, arguments, given));
  BoundCall call;
  call.tensor_bytes.resize(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ParameterInfo& parameter = function.parameters[i];
    if (given == GivenArguments::constants && !parameter.is_constant) continue;
    if (parameter.kind == ParameterKind::scalar) {
      for (std::size_t s = 0; s < symbols.values.size(); ++s) {
        if (parameter.dtype != DType::i64 || parameter.name != function.symbols[s]) continue;
        if (arguments[i].scalar == symbols.values[s]) continue;
        return refuse(function, argument_name(function, i) + ": expected " + std::to_string(symbols.values[s]) +
                                    ", got " + std::to_string(arguments[i].scalar));
      }
      continue;
    }
    for (std::size_t d = 0; d < parameter.shape.size(); ++d) {
      FERRY_ASSIGN(const std::int64_t expected,
                   evaluate_for(function, {"size", i}, parameter.shape[d], symbols.values));
      if (expected != arguments[i].shape[d]) return mismatch(function, i, symbols, arguments[i]);
    }
    FERRY_ASSIGN(call.tensor_bytes[i], tensor_bytes(function, i, arguments[i], symbols.values));
  }
  for (const Precondition& precondition : function.preconditions) {
    // In a call every symbol is bound.
    if (given == GivenArguments::constants && !symbols.knows(precondition.condition)) continue;
    FERRY_TRY(check_precondition(function, precondition, symbols.values));
  }
  call.symbols = std::move(symbols.values);
  return call;
}

Result<std::vector<std::vector<std::int64_t>>> infer_shapes(const FunctionInfo& function,
                                                            std::span<const std::int64_t> symbols) {
  if (symbols.size() != function.symbols.size()) {
    return refuse(function, "expected " + std::to_string(function.symbols.size()) + " sizes, got " +
                                std::to_string(symbols.size()));
  }
  std::vector<std::vector<std::int64_t>> shapes;
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    std::vector<std::int64_t>& shape = shapes.emplace_back();
    for (const ManifestExpr& size : function.parameters[i].shape) {
      FERRY_ASSIGN(const std::int64_t value, evaluate_for(function, {"size", i}, size, symbols));
      if (value < 0) {
        return refuse(function, argument_name(function, i) + ": expected sizes of at least 0, got " +
                                    to_text(size, function.symbols) + " = " + std::to_string(value));
      }
      shape.push_back(value);
    }
  }
  return shapes;
}

}  // namespace ferry
