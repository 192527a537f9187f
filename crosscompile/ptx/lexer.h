// Splits a PTX text into tokens.
#pragma once

#include <string>
#include <vector>

namespace ferry::ptx {

enum class TokenKind { word, number, text, mark, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  int line = 0;
};

// Skips comments; the last token is of kind `end`. A word includes its dots: "ld.global.f32", "%tid.x", ".reg".
std::vector<Token> tokens_of(const std::string& text);

}  // namespace ferry::ptx
