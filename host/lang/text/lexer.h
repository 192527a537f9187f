// Splits a text into tokens. Comments run from '#' or '//' to the end of the line.
#pragma once

#include "host/lang/text/source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::lang {

enum class TokenKind : std::uint8_t { name, integer, real, string, symbol, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;   // as written; for a string, the text between the quotes
  std::size_t offset = 0;  // in the source
  std::uint64_t integer = 0;
  double real = 0;
  std::string_view suffix;  // suffix of a number: "", "f", "h", "u", "l", "ul"
};

// The result ends with a token of kind end. Throws CompileError for unknown characters and malformed numbers.
std::vector<Token> tokenize(const Source& source);

// "'+='", "the end of the text", "the number 3"
std::string described(const Token& token);

}  // namespace ferry::lang
