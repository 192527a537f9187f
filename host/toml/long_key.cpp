#include "host/toml/long_key.h"

#include <algorithm>
#include <string>

namespace ferry {
namespace {

// Walks over a text, and over strings and comments as a whole. It may lose its way after a mistake, where the parser
// has stopped.
class KeyScanner {
 public:
  explicit KeyScanner(std::string_view text) : text_(text) {}

  bool is_at_end() const { return at_ >= text_.size(); }
  std::size_t line() const { return line_; }

  // Returns the next character outside of strings and comments.
  char next() {
    const char c = text_[at_++];
    if (c == '\n') ++line_;
    if (c == '#') skip_comment();
    if (c == '"' || c == '\'') skip_string(c);
    return c;
  }

 private:
  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool has_lines = text_.substr(at_ - 1, 3) == three;
    if (has_lines) at_ += 2;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!has_lines) return;
        ++line_;
      } else if (c == '\\' && quote == '"' && text_.substr(at_ + 1, 1) != "\n") {
        ++at_;
      } else if (c == quote && (!has_lines || text_.substr(at_, 3) == three)) {
        at_ += has_lines ? 3 : 1;
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
};

}  // namespace

std::optional<std::size_t> line_of_long_key(std::string_view text, std::size_t most_parts) {
  KeyScanner scanner(text);
  std::size_t parts = 1;
  while (!scanner.is_at_end()) {
    const std::size_t line = scanner.line();
    switch (scanner.next()) {
      case '.':
        if (++parts > most_parts) return line;
        break;
      case '[':
      case ']':
      case '{':
      case '}':
      case ',':
      case '=':
      case '\n': parts = 1; break;
      default: break;
    }
  }
  return std::nullopt;
}

}  // namespace ferry
