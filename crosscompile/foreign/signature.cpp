#include "crosscompile/foreign/signature.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "crosscompile/ir/error.h"
#include "ferry/expr.h"
#include "module/kernel_symbol.h"

namespace ferry::foreign {
namespace {

// Maximum nesting depth of a size expression; real sizes are shallower.
constexpr int kMostDepth = 16;

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Signature parse() {
    std::string name = word("the function's name");
    skip_spaces();
    if (at_ < text_.size() && text_[at_] != '(') {
      if (parse_dtype(name) != DType::i32) refuse_at(0, "the function's name, or i32 before it");
      signature_.returns_status = true;
      name = word("the function's name");
    }
    signature_.c_name = name;
    signature_.function.name = name;
    expect('(');
    if (!take(')')) {
      do {
        parameter();
      } while (take(','));
      expect(')');
    }
    skip_spaces();
    if (at_ != text_.size()) refuse("the end");
    check_symbols();
    set_native_code(signature_.function, {kSymbolPrefix + name, {}, {}});
    return std::move(signature_);
  }

 private:
  [[noreturn]] void refuse_at(std::size_t column, const std::string& expected) const {
    const std::string found = column < text_.size() ? "'" + std::string(1, text_[column]) + "'" : "the end";
    throw CompileError("signature, column " + std::to_string(column + 1) + ": expected " + expected + ", got " + found +
                       "\n  " + std::string(text_) + "\n  " + std::string(column, ' ') + "^");
  }
  [[noreturn]] void refuse(const std::string& expected) const { refuse_at(at_, expected); }

  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) refuse(std::string("'") + c + "'");
  }
  std::string word(const char* what) {
    skip_spaces();
    if (at_ >= text_.size() || !starts_name(text_[at_])) refuse(what);
    const std::size_t begin = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  DType dtype() {
    skip_spaces();
    const std::size_t begin = at_;
    const std::string name = word("a type such as f32");
    const std::optional<DType> type = parse_dtype(name);
    if (!type) refuse_at(begin, "a type such as f32, i64 or u8, or in, out or inout before one");
    return *type;
  }

  void parameter() {
    ParameterInfo parameter;
    skip_spaces();
    const std::size_t begin = at_;
    const std::string first = word("a parameter");
    const bool has_direction = first == "in" || first == "out" || first == "inout";
    if (!has_direction) at_ = begin;
    parameter.direction = first == "out" ? Direction::out : first == "inout" ? Direction::inout : Direction::in;
    parameter.dtype = dtype();
    skip_spaces();
    // `in f32 a` is a number too, because manifests are printed in this form.
    const bool is_tensor = at_ < text_.size() && text_[at_] == '[';
    if (is_tensor && !has_direction) refuse_at(begin, "in, out or inout before a tensor");
    if (!is_tensor && parameter.direction != Direction::in) refuse("'['");
    parameter.kind = is_tensor ? ParameterKind::tensor : ParameterKind::scalar;
    if (!is_tensor && ir::Type(parameter.dtype).is_narrow_float()) {
      refuse_at(begin, "a number of another type: C compilers do not agree on how to pass narrow floats");
    }
    if (is_tensor) sizes(parameter);
    skip_spaces();
    const std::size_t name_at = at_;
    parameter.name = word("a name");
    for (const ParameterInfo& other : signature_.function.parameters) {
      if (other.name == parameter.name) refuse_at(name_at, "a name that no parameter before has");
    }
    // A number that has the name of a size provides that size.
    if (!is_tensor && parameter.dtype == DType::i64) scalars_.push_back(parameter.name);
    signature_.function.parameters.push_back(std::move(parameter));
  }

  void sizes(ParameterInfo& parameter) {
    expect('[');
    if (take(']')) return;
    do {
      parameter.shape.push_back(sum(0));
    } while (take(','));
    expect(']');
    if (parameter.shape.size() > kMaxRank) refuse("at most " + std::to_string(kMaxRank) + " sizes");
  }

  ManifestExpr sum(int depth) {
    ManifestExpr left = product(depth);
    while (true) {
      if (take('+')) {
        left = manifest_apply(ManifestOp::add, {left, product(depth)});
      } else if (take('-')) {
        left = manifest_apply(ManifestOp::sub, {left, product(depth)});
      } else {
        return left;
      }
    }
  }

  ManifestExpr product(int depth) {
    ManifestExpr left = factor(depth);
    while (true) {
      if (take('*')) {
        left = manifest_apply(ManifestOp::mul, {left, factor(depth)});
      } else if (take('/')) {
        left = manifest_apply(ManifestOp::floordiv, {left, factor(depth)});
      } else {
        return left;
      }
    }
  }

  ManifestExpr factor(int depth) {
    if (depth > kMostDepth) refuse("fewer parentheses");
    if (take('(')) {
      ManifestExpr inner = sum(depth + 1);
      expect(')');
      return inner;
    }
    skip_spaces();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc()) refuse("a size below 2^63");
      at_ = static_cast<std::size_t>(end - text_.data());
      return manifest_constant(value);
    }
    const std::string name = word("a size");
    auto& symbols = signature_.function.symbols;
    const auto found = std::find(symbols.begin(), symbols.end(), name);
    const auto index = static_cast<std::uint32_t>(found - symbols.begin());
    if (found == symbols.end()) symbols.push_back(name);
    return manifest_symbol(index);
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

  std::string_view text_;
  std::size_t at_ = 0;
  Signature signature_;
  std::vector<std::string> scalars_;
};

}  // namespace

Signature parse_signature(std::string_view text) { return Parser(text).parse(); }

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
