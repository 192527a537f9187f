#include "crosscompile/foreign/signature.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>

#include "base/format.h"
#include "crosscompile/foreign/text_cursor.h"
#include "crosscompile/ir/c_type_name.h"
#include "crosscompile/ir/error.h"
#include "ferry/expr.h"
#include "module/kernel_symbol.h"

namespace ferry::foreign {
namespace {

class SignatureParser {
 public:
  explicit SignatureParser(std::string_view text) : cursor_(text, "signature") {}

  Signature parse() {
    std::string name = cursor_.word("the function's name");
    if (cursor_.peek() != '\0' && cursor_.peek() != '(') {
      if (parse_dtype(name) != DType::i32) cursor_.refuse_at(0, "the function's name, or i32 before it");
      signature_.returns_status = true;
      name = cursor_.word("the function's name");
    }
    signature_.c_name = name;
    signature_.function.name = name;
    cursor_.expect('(');
    if (!cursor_.take(')')) {
      do {
        parameter();
      } while (cursor_.take(','));
      cursor_.expect(')');
    }
    if (!cursor_.is_at_end()) cursor_.refuse("the end");
    pass_sizes();
    check_symbols();
    set_native_code(signature_.function, {kSymbolPrefix + name, {}, {}});
    return std::move(signature_);
  }

 private:
  DType dtype() {
    cursor_.skip_spaces();
    const std::size_t begin = cursor_.column();
    const std::string name = cursor_.word("a type such as f32");
    const std::optional<DType> type = parse_dtype(name);
    if (!type) cursor_.refuse_at(begin, "a type such as f32, i64 or u8, or in, out or inout before one");
    return *type;
  }

  void parameter() {
    ParameterInfo parameter;
    cursor_.skip_spaces();
    const std::size_t begin = cursor_.column();
    const std::string first = cursor_.word("a parameter");
    const bool has_direction = first == "in" || first == "out" || first == "inout";
    if (!has_direction) cursor_.go_back_to(begin);
    parameter.direction = first == "out" ? Direction::out : first == "inout" ? Direction::inout : Direction::in;
    parameter.dtype = dtype();
    // `in f32 a` is a number too, because manifests are printed in this form.
    const bool is_tensor = cursor_.peek() == '[';
    if (is_tensor && !has_direction) cursor_.refuse_at(begin, "in, out or inout before a tensor");
    if (!is_tensor && parameter.direction != Direction::in) cursor_.refuse("'['");
    parameter.kind = is_tensor ? ParameterKind::tensor : ParameterKind::scalar;
    if (!is_tensor && ir::Type(parameter.dtype).is_narrow_float()) {
      cursor_.refuse_at(begin, "a number of another type: C compilers do not agree on how to pass narrow floats");
    }
    if (is_tensor) sizes(parameter);
    cursor_.skip_spaces();
    const std::size_t name_at = cursor_.column();
    parameter.name = cursor_.word("a name");
    for (const ParameterInfo& other : signature_.function.parameters) {
      if (other.name == parameter.name) cursor_.refuse_at(name_at, "a name that no parameter before has");
    }
    // A number that has the name of a size provides that size.
    if (!is_tensor && parameter.dtype == DType::i64) scalars_.push_back(parameter.name);
    signature_.function.parameters.push_back(std::move(parameter));
  }

  void sizes(ParameterInfo& parameter) {
    cursor_.expect('[');
    if (cursor_.take(']')) return;
    do {
      parameter.shape.push_back(cursor_.size([this](const std::string& name, std::size_t) { return symbol(name); }));
    } while (cursor_.take(','));
    cursor_.expect(']');
    if (parameter.shape.size() > kMaxRank) cursor_.refuse("at most " + std::to_string(kMaxRank) + " sizes");
  }

  std::uint32_t symbol(const std::string& name) {
    auto& symbols = signature_.function.symbols;
    const auto found = std::find(symbols.begin(), symbols.end(), name);
    const auto index = static_cast<std::uint32_t>(found - symbols.begin());
    if (found == symbols.end()) symbols.push_back(name);
    return index;
  }

  // Lists what the function receives. An integer of another type than int64 that has the name of a size is that size,
  // which the caller does not give a second time.
  void pass_sizes() {
    FunctionInfo& function = signature_.function;
    std::vector<ParameterInfo> kept;
    for (ParameterInfo& parameter : function.parameters) {
      const auto size = std::find(function.symbols.begin(), function.symbols.end(), parameter.name);
      const bool is_size = size != function.symbols.end() && parameter.kind == ParameterKind::scalar &&
                           !is_float(parameter.dtype) && dtype_bytes(parameter.dtype) >= 4;
      if (!is_size || parameter.dtype == DType::i64) {
        signature_.passed.push_back({false, kept.size(), parameter.dtype});
        kept.push_back(std::move(parameter));
        continue;
      }
      const auto index = static_cast<std::size_t>(size - function.symbols.begin());
      signature_.passed.push_back({true, index, parameter.dtype});
      if (dtype_bytes(parameter.dtype) < 8) limit_size(index, parameter.dtype);
    }
    function.parameters = std::move(kept);
    for (std::size_t s = 0; s < function.symbols.size(); ++s) {
      const auto is_this = [&](const codegen::PassedArgument& one) {
        return one.is_size ? one.index == s : function.parameters[one.index].name == function.symbols[s];
      };
      if (std::none_of(signature_.passed.begin(), signature_.passed.end(), is_this))
        signature_.passed.push_back({true, s, DType::i64});
    }
  }

  // The call is refused where the size does not fit into the type that the function takes it as.
  void limit_size(std::size_t index, DType type) {
    FunctionInfo& function = signature_.function;
    const std::int64_t most = is_signed_int(type) ? INT32_MAX : UINT32_MAX;
    ManifestExpr fits =
        manifest_apply(ManifestOp::le, {manifest_symbol(static_cast<std::uint32_t>(index)), manifest_constant(most)});
    function.preconditions.push_back({std::move(fits), function.symbols[index] + " must be at most " +
                                                           count_text(static_cast<std::uint64_t>(most)) + ", since " +
                                                           function.name + " takes it as " + ir::c_type_name(type)});
  }

  void check_symbols() {
    FunctionInfo& function = signature_.function;
    for (std::uint32_t s = 0; s < function.symbols.size(); ++s) {
      const bool is_scalar = std::find(scalars_.begin(), scalars_.end(), function.symbols[s]) != scalars_.end();
      const bool stands_bare =
          std::any_of(function.parameters.begin(), function.parameters.end(), [&](const ParameterInfo& parameter) {
            return parameter.direction != Direction::out && std::find(parameter.shape.begin(), parameter.shape.end(),
                                                                      manifest_symbol(s)) != parameter.shape.end();
          });
      if (is_scalar || stands_bare) continue;
      throw CompileError("signature: expected the size " + function.symbols[s] +
                         " alone in a dimension of an input, or as 'i64 " + function.symbols[s] +
                         "' among the parameters");
    }
  }

  TextCursor cursor_;
  Signature signature_;
  std::vector<std::string> scalars_;
};

}  // namespace

Signature parse_signature(std::string_view text) { return SignatureParser(text).parse(); }

Signature parse_cuda_signature(std::string_view text, const std::string& launch) {
  const std::size_t begin = launch_in(text);
  Signature signature = parse_signature(text.substr(0, begin));
  if (signature.returns_status) throw CompileError("signature: expected no result, because kernels of GPUs have none");
  const std::string_view own = begin == std::string_view::npos ? std::string_view() : text.substr(begin);
  if (launch.empty() && own.empty()) return signature;
  signature.launch = parse_launch(launch.empty() ? own : launch, signature.function);
  add_launch_conditions(*signature.launch, signature.function);
  return signature;
}

std::vector<std::string> signatures_in_source(std::string_view source) {
  std::vector<std::string> found;
  constexpr std::string_view kMark = "ferry:";
  for (std::size_t at = source.find(kMark); at != std::string_view::npos; at = source.find(kMark, at + 1)) {
    const std::size_t line = source.rfind('\n', at) + 1;  // 0 when there is none
    std::string_view before = source.substr(line, at - line);
    while (!before.empty() && std::isspace(static_cast<unsigned char>(before.back())) != 0) before.remove_suffix(1);
    if (!before.ends_with("//") && !before.ends_with("/*") && !before.ends_with(";")) continue;
    std::string_view rest = source.substr(at + kMark.size(), source.find('\n', at) - at - kMark.size());
    if (const std::size_t end = rest.find("*/"); end != std::string_view::npos) rest = rest.substr(0, end);
    while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front())) != 0) rest.remove_prefix(1);
    while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.back())) != 0) rest.remove_suffix(1);
    found.emplace_back(rest);
  }
  return found;
}

}  // namespace ferry::foreign
