#include "host/lang/text/source.h"

#include <algorithm>

namespace ferry::lang {
namespace {

// Number of bytes shown of a line, at most.
constexpr std::size_t kShown = 100;

struct Place {
  std::size_t line = 1;
  std::size_t column = 1;          // in characters
  std::size_t begin = 0, end = 0;  // offsets of the line
};

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

Place find(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  Place place;
  for (std::size_t i = 0; i < offset; ++i) {
    if (text[i] == '\n') {
      ++place.line;
      place.begin = i + 1;
    }
  }
  for (std::size_t i = place.begin; i < offset; ++i) {
    if (!continues_character(text[i])) ++place.column;
  }
  place.end = std::min(text.find('\n', place.begin), text.size());
  return place;
}

}  // namespace

std::string Source::place(std::size_t offset) const {
  const Place place = find(text_, offset);
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

CompileError Source::error(std::size_t offset, const std::string& message) const {
  const Place place = find(text_, offset);
  offset = std::clamp(offset, place.begin, place.end);
  // A long line is shown from a little before the location.
  std::size_t from = place.begin;
  if (place.end - place.begin > kShown && offset - place.begin > kShown / 2) from = offset - kShown / 2;
  while (from < offset && continues_character(text_[from])) ++from;
  std::size_t to = std::min(place.end, from + kShown);
  while (to < place.end && continues_character(text_[to])) ++to;
  std::string shown, caret;
  for (std::size_t i = from; i < to; ++i) {
    const unsigned char c = static_cast<unsigned char>(text_[i]);
    shown += c == '\t' ? ' ' : c < 0x20 || c == 0x7f ? '?' : text_[i];
    if (i < offset && !continues_character(text_[i])) caret += ' ';
  }
  while (!shown.empty() && (shown.back() == ' ' || (shown.back() == '?' && text_[to - 1] == '\r'))) {
    if (shown.back() == '?') --to;
    shown.pop_back();
  }
  const std::string at = file_ + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + message;
  return CompileError(shown.empty() ? at : at + "\n  " + shown + "\n  " + caret + "^",
                      {file_, place.line, place.column});
}

}  // namespace ferry::lang
