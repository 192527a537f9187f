#include "crosscompile/foreign/text_cursor.h"

#include <cctype>
#include <charconv>

#include "crosscompile/ir/error.h"

namespace ferry::foreign {
namespace {

// Maximum nesting depth of a size expression; real sizes are shallower.
constexpr int kMostDepth = 16;

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

void TextCursor::refuse_at(std::size_t column, const std::string& expected) const {
  const std::string found = column < text_.size() ? "'" + std::string(1, text_[column]) + "'" : "the end";
  throw CompileError(what_ + ", column " + std::to_string(column + 1) + ": expected " + expected + ", got " + found +
                     "\n  " + std::string(text_) + "\n  " + std::string(column, ' ') + "^");
}

void TextCursor::skip_spaces() {
  while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
}

bool TextCursor::is_at_end() {
  skip_spaces();
  return at_ == text_.size();
}

char TextCursor::peek() {
  skip_spaces();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool TextCursor::take(char c) {
  if (is_at_end() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void TextCursor::expect(char c) {
  if (!take(c)) refuse(std::string("'") + c + "'");
}

std::string TextCursor::word(const char* what) {
  if (is_at_end() || !starts_name(text_[at_])) refuse(what);
  const std::size_t begin = at_;
  while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
  return std::string(text_.substr(begin, at_ - begin));
}

ManifestExpr TextCursor::sum(const FindSize& find, int depth) {
  ManifestExpr left = product(find, depth);
  while (true) {
    if (take('+')) {
      left = manifest_apply(ManifestOp::add, {left, product(find, depth)});
    } else if (take('-')) {
      left = manifest_apply(ManifestOp::sub, {left, product(find, depth)});
    } else {
      return left;
    }
  }
}

ManifestExpr TextCursor::product(const FindSize& find, int depth) {
  ManifestExpr left = factor(find, depth);
  while (true) {
    if (take('*')) {
      left = manifest_apply(ManifestOp::mul, {left, factor(find, depth)});
    } else if (take('/')) {
      left = manifest_apply(ManifestOp::floordiv, {left, factor(find, depth)});
    } else {
      return left;
    }
  }
}

ManifestExpr TextCursor::factor(const FindSize& find, int depth) {
  if (depth > kMostDepth) refuse("fewer parentheses");
  if (take('(')) {
    ManifestExpr inner = sum(find, depth + 1);
    expect(')');
    return inner;
  }
  if (is_digit(peek())) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) refuse("a size below 2^63");
    at_ = static_cast<std::size_t>(end - text_.data());
    return manifest_constant(value);
  }
  skip_spaces();
  const std::size_t column = at_;
  const std::string name = word("a size");
  return peek() == '(' ? call(name, column, find, depth) : manifest_symbol(find(name, column));
}

ManifestExpr TextCursor::call(const std::string& name, std::size_t column, const FindSize& find, int depth) {
  if (name != "min" && name != "max" && name != "ceildiv") refuse_at(column, "a size, or min, max or ceildiv of two");
  expect('(');
  ManifestExpr a = sum(find, depth + 1);
  expect(',');
  ManifestExpr b = sum(find, depth + 1);
  expect(')');
  if (name == "min") return manifest_apply(ManifestOp::min, {a, b});
  if (name == "max") return manifest_apply(ManifestOp::max, {a, b});
  const bool is_number = b.code.size() == 1 && b.code[0].op == ManifestOp::constant && b.code[0].value > 0;
  if (is_number)
    return manifest_apply(ManifestOp::floordiv,
                          {manifest_apply(ManifestOp::add, {a, manifest_constant(b.code[0].value - 1)}), b});
  // -floor(-a / b)
  const ManifestExpr zero = manifest_constant(0);
  return manifest_apply(ManifestOp::sub,
                        {zero, manifest_apply(ManifestOp::floordiv, {manifest_apply(ManifestOp::sub, {zero, a}), b})});
}

}  // namespace ferry::foreign
