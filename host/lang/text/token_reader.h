// A parser's position in the token sequence.
#pragma once

#include "host/lang/text/lexer.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace ferry::lang {

class TokenReader {
 public:
  explicit TokenReader(const Source& source) : source_(source), tokens_(tokenize(source)) {}

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool at_end() const { return peek().kind == TokenKind::end; }
  bool at_symbol(std::string_view text) const { return peek().kind == TokenKind::symbol && peek().text == text; }
  bool at_name(std::string_view text) const { return peek().kind == TokenKind::name && peek().text == text; }

  Token take() {
    Token token = peek();
    if (!at_end()) ++at_;
    return token;
  }
  bool take_symbol(std::string_view text) {
    const bool is = at_symbol(text);
    if (is) ++at_;
    return is;
  }
  // `why` is appended to the symbol in the message: " after the arguments".
  Token expect_symbol(std::string_view text, const std::string& why = "") {
    if (!at_symbol(text)) throw unexpected("'" + std::string(text) + "'" + why);
    return take();
  }
  Token expect_name(const std::string& what) {
    if (peek().kind != TokenKind::name) throw unexpected(what);
    return take();
  }

  // Returns the error "expected `what`, got 'x'" at the current token.
  CompileError unexpected(const std::string& what) const {
    return source_.error(peek().offset, "expected " + what + ", got " + described(peek()));
  }
  const Source& source() const { return source_; }
  // Offset of the end of the last token taken.
  std::size_t taken_to() const { return at_ == 0 ? 0 : tokens_[at_ - 1].offset + tokens_[at_ - 1].text.size(); }

 private:
  const Source& source_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace ferry::lang
