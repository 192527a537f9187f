#include "crosscompile/ptx/lexer.h"

#include <cctype>

#include "crosscompile/ptx/program.h"

namespace ferry::ptx {
namespace {

bool begins_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}
bool goes_on(char c) { return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::vector<Token> tokens_of(const std::string& text) {
  std::vector<Token> tokens;
  int line = 1;
  std::size_t at = 0;
  const auto peek = [&](std::size_t ahead) { return at + ahead < text.size() ? text[at + ahead] : '\0'; };
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n') {
      ++line;
      ++at;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at;
    } else if (c == '/' && peek(1) == '/') {
      while (at < text.size() && text[at] != '\n') ++at;
    } else if (c == '/' && peek(1) == '*') {
      const std::size_t end = std::min(text.find("*/", at), text.size() - 2) + 2;
      for (; at < end; ++at) line += text[at] == '\n' ? 1 : 0;
    } else if (c == '"') {
      const std::size_t end = text.find('"', at + 1);
      if (end == std::string::npos) throw ParseError("line " + std::to_string(line) + ": a text without its end");
      tokens.push_back({TokenKind::text, text.substr(at + 1, end - at - 1), line});
      at = end + 1;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      const std::size_t begin = at;
      while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '.')) ++at;
      tokens.push_back({TokenKind::number, text.substr(begin, at - begin), line});
    } else if (begins_word(c)) {
      const std::size_t begin = at;
      while (at < text.size() && (goes_on(text[at]) || (text[at] == ':' && peek(1) == ':')))
        at += text[at] == ':' ? 2 : 1;
      tokens.push_back({TokenKind::word, text.substr(begin, at - begin), line});
    } else {
      tokens.push_back({TokenKind::mark, std::string(1, c), line});
      ++at;
    }
  }
  tokens.push_back({TokenKind::end, "", line});
  return tokens;
}

}  // namespace ferry::ptx
