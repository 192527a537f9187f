// Reads what signatures and launches have in common: words, and expressions over sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "module/manifest_expr.h"

namespace ferry::foreign {

class TextCursor {
 public:
  // Returns the index of the size with this name, which stands at the column. May throw.
  using FindSize = std::function<std::uint32_t(const std::string& name, std::size_t column)>;

  // `what` names the text in messages: "signature".
  TextCursor(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

  // Throws CompileError with a caret below the column, and what was expected there.
  [[noreturn]] void refuse_at(std::size_t column, const std::string& expected) const;
  [[noreturn]] void refuse(const std::string& expected) const { refuse_at(at_, expected); }

  void skip_spaces();
  bool is_at_end();
  std::size_t column() const { return at_; }
  void go_back_to(std::size_t column) { at_ = column; }
  // Returns the next character behind spaces; 0 at the end.
  char peek();
  bool take(char c);
  void expect(char c);
  std::string word(const char* what);
  // Reads integers, names, + - * / min(a, b), max(a, b), ceildiv(a, b) and parentheses.
  ManifestExpr size(const FindSize& find) { return sum(find, 0); }

 private:
  ManifestExpr sum(const FindSize& find, int depth);
  ManifestExpr product(const FindSize& find, int depth);
  ManifestExpr factor(const FindSize& find, int depth);
  ManifestExpr call(const std::string& name, std::size_t column, const FindSize& find, int depth);

  std::string_view text_;
  std::string what_;
  std::size_t at_ = 0;
};

}  // namespace ferry::foreign
