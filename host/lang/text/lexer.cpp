#include "host/lang/text/lexer.h"

#include <charconv>

namespace ferry::lang {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Longer symbols come before their prefixes.
constexpr std::string_view kSymbols[] = {"+=!", "*=!", "->", "+=", "*=", "<=", ">=", "==", "!=", "&&", "||", "<<", ">>",
                                         "(",   ")",   "{",  "}",  ",",  ":",  ";",  "=",  "+",  "-",  "*",  "/",  "%",
                                         "<",   ">",   "!",  "?",  "&",  "|",  "^",  "~",  ".",  "[",  "]"};

class Lexer {
 public:
  explicit Lexer(const Source& source) : source_(source), text_(source.text()) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (skip_blank()) tokens.push_back(next());
    // An error at the end points just behind the last token, not behind the whitespace after it.
    Token end;
    end.offset = tokens.empty() ? 0 : end_of(tokens.back());
    tokens.push_back(end);
    return tokens;
  }

 private:
  static std::size_t end_of(const Token& token) {
    return token.offset + token.text.size() + (token.kind == TokenKind::string ? 2 : 0);
  }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  // Returns false at the end of the text.
  bool skip_blank() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#' || (c == '/' && peek(1) == '/')) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else {
        return true;
      }
    }
    return false;
  }

  Token next() {
    Token token;
    token.offset = at_;
    const char c = peek();
    if (is_letter(c)) {
      while (is_letter(peek()) || is_digit(peek())) ++at_;
      token.kind = TokenKind::name;
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number(token);
    } else if (c == '"') {
      return string(token);
    } else {
      symbol(token);
    }
    token.text = text_.substr(token.offset, at_ - token.offset);
    return token;
  }

  void number(Token& token) {
    const bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    if (hex) at_ += 2;
    const std::size_t begin = at_;
    const auto is_part = [&](char c) {
      return is_digit(c) || (hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
    };
    bool real = false;
    while (is_part(peek())) ++at_;
    if (!hex && peek() == '.') {
      real = true;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    const bool exponent_sign = peek(1) == '+' || peek(1) == '-';
    if (!hex && (peek() == 'e' || peek() == 'E') && (is_digit(peek(1)) || (exponent_sign && is_digit(peek(2))))) {
      real = true;
      at_ += 2;
      while (is_digit(peek())) ++at_;
    }
    const std::size_t end = at_;
    while (is_letter(peek()) || is_digit(peek())) ++at_;
    token.suffix = text_.substr(end, at_ - end);
    const bool float_suffix = token.suffix == "f" || token.suffix == "h";
    const bool int_suffix = token.suffix == "u" || token.suffix == "l" || token.suffix == "ul";
    if (!token.suffix.empty() && !float_suffix && !(int_suffix && !real)) {
      throw source_.error(end, "expected a number, got '" +
                                   std::string(text_.substr(token.offset, at_ - token.offset)) +
                                   "'; suffixes are f and h for floats, u, l and ul for integers");
    }
    token.kind = real || (float_suffix && !hex) ? TokenKind::real : TokenKind::integer;
    const char* first = text_.data() + begin;
    const char* last = text_.data() + end;
    const auto result = token.kind == TokenKind::real ? std::from_chars(first, last, token.real)
                                                      : std::from_chars(first, last, token.integer, hex ? 16 : 10);
    if (result.ec != std::errc() || result.ptr != last) {
      const char* limit = token.kind == TokenKind::real ? "a double" : "64 bits";
      throw source_.error(token.offset, "expected a number that fits " + std::string(limit) + ", got '" +
                                            std::string(text_.substr(token.offset, end - token.offset)) + "'");
    }
  }

  Token string(Token token) {
    const std::size_t close = text_.find_first_of("\"\n", at_ + 1);
    if (close == std::string_view::npos || text_[close] == '\n') {
      throw source_.error(token.offset, "expected '\"' at the end of the string");
    }
    token.kind = TokenKind::string;
    token.text = text_.substr(at_ + 1, close - at_ - 1);
    at_ = close + 1;
    return token;
  }

  void symbol(Token& token) {
    token.kind = TokenKind::symbol;
    for (const std::string_view candidate : kSymbols) {
      if (text_.substr(at_).starts_with(candidate)) {
        at_ += candidate.size();
        return;
      }
    }
    const unsigned char c = static_cast<unsigned char>(text_[at_]);
    const bool printable = c > 0x20 && c < 0x7f;
    throw source_.error(at_, printable
                                 ? "expected a name, a number or an operator, got '" + std::string(1, text_[at_]) + "'"
                                 : "expected plain ASCII, got byte " + std::to_string(c));
  }

  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokenize(const Source& source) { return Lexer(source).run(); }

std::string described(const Token& token) {
  switch (token.kind) {
    case TokenKind::end: return "the end of the text";
    case TokenKind::string: return "\"" + std::string(token.text) + "\"";
    case TokenKind::name:
    case TokenKind::integer:
    case TokenKind::real:
    case TokenKind::symbol: return "'" + std::string(token.text) + "'";
  }
  return "";
}

}  // namespace ferry::lang
