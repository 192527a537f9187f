#include "host/text/footnotes.h"

#include <cctype>
#include <set>

namespace ferry::text {

namespace {

// Returns the text with '#' in place of each number.
std::string without_numbers(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (!is_digit) result += c;
    if (is_digit && !result.ends_with('#')) result += '#';
  }
  return result;
}

}  // namespace

std::string Footnotes::marks(const std::vector<std::string>& texts) {
  std::set<std::size_t> numbers;
  for (const std::string& text : texts) {
    const auto [note, is_new] = known_.emplace(without_numbers(text), notes_.size());
    if (is_new) notes_.push_back({text});
    Note& known = notes_[note->second];
    known.varies = known.varies || known.text != text;
    numbers.insert(note->second + 1);
  }
  std::string marks;
  for (const std::size_t number : numbers) marks += (marks.empty() ? "" : " ") + std::to_string(number);
  return marks;
}

std::vector<std::string> Footnotes::lines() const {
  std::vector<std::string> lines;
  for (const Note& note : notes_) {
    lines.push_back(std::to_string(lines.size() + 1) + "  " + note.text +
                    (note.varies ? " (in other rows with other numbers)" : ""));
  }
  return lines;
}

}  // namespace ferry::text
