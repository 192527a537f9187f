// Cuts a text into tokens. Comments run from '#' or '//' to the end of the line.
#pragma once

#include "host/lang/source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::lang {

enum class TokenKind : std::uint8_t { name, integer, real, string, symbol, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;   // as written; of a string what stands between the quotes
  std::size_t offset = 0;  // in the source
  std::uint64_t integer = 0;
  double real = 0;
  std::string_view suffix;  // of a number: "", "f", "h", "u", "l", "ul"
};

// Ends with a token of kind end. TextError for characters and numbers that mean nothing.
std::vector<Token> tokenize(const Source& source);

// "'+='", "the end of the text", "the number 3"
std::string described(const Token& token);

}  // namespace ferry::lang
