// The words of a PTX text.
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

// Without comments; the last one is of kind `end`. A word has its dots: "ld.global.f32", "%tid.x", ".reg".
std::vector<Token> tokens_of(const std::string& text);

}  // namespace ferry::ptx
