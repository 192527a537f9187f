#include "host/toml/value_advice.h"

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/lines.h"
#include "base/printable.h"

namespace ferry {
namespace {

constexpr std::size_t kMostValueBytes = 256;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t\r"), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

// Returns the byte of the line at which its character of this number begins.
std::size_t byte_of(std::string_view line, std::size_t column) {
  std::size_t at = 0;
  for (std::size_t passed = 1; at < line.size(); ++at) {
    const bool begins = (line[at] & 0xc0) != 0x80;
    if (begins && passed++ == column) return at;
  }
  return line.size();
}

// A value in a line that might lack its quotes.
struct BareValue {
  std::size_t first = 0, end = 0;  // bytes of the line
  std::string key;                 // empty: an entry of an array
};

std::optional<BareValue> bare_value(std::string_view line, std::size_t first, std::size_t end, const std::string& key) {
  const std::string_view value = trimmed(line.substr(first, end - first));
  if (value.empty() || value.size() > kMostValueBytes) return std::nullopt;
  if (!std::ranges::all_of(value, [](char c) {
        return (static_cast<unsigned char>(c) >= ' ') && c != '"' && c != '\'' && c != '\\' && c != 0x7f;
      }))
    return std::nullopt;
  const auto begin = static_cast<std::size_t>(value.data() - line.data());
  return BareValue{begin, begin + value.size(), key};
}

// Returns the key before an '=' of the line.
std::string key_before(std::string_view line, std::size_t equals) {
  const std::size_t before = equals == 0 ? std::string_view::npos : line.find_last_of("{,=", equals - 1);
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  return std::string(trimmed(line.substr(first, equals - first)));
}

// Returns the values around a place: up to the next sign that could end it, and up to the end of the line.
std::vector<BareValue> bare_values(std::string_view line, std::size_t at) {
  const std::size_t before = at == 0 ? std::string_view::npos : line.find_last_of("=[,", at - 1);
  if (before == std::string_view::npos || line.substr(0, before + 1).find('=') == std::string_view::npos) return {};
  const std::string key = line[before] == '=' ? key_before(line, before) : "";
  std::vector<BareValue> values;
  for (const char* ends : {",]}#", "#"}) {
    const std::size_t end = std::min(line.find_first_of(ends, before + 1), line.size());
    if (auto value = bare_value(line, before + 1, end, key)) values.push_back(std::move(*value));
  }
  return values;
}

// How far the parser comes: beyond the line, or beyond the value that ends at a byte of it.
enum class Reach : std::uint8_t { nowhere, value, line };

Reach reach_of(const std::string& text, std::size_t line, std::size_t end) {
  try {
    static_cast<void>(toml::parse(text));
    return Reach::line;
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    if (at.line != line) return at.line > line ? Reach::line : Reach::nowhere;
    return at.column > end + 1 ? Reach::value : Reach::nowhere;
  }
}

const char* truth_of(std::string_view word) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  constexpr std::array kTrue = {"yes", "on", "true"}, kFalse = {"no", "off", "false"};
  if (std::ranges::find(kTrue, lower) != kTrue.end()) return "true";
  return std::ranges::find(kFalse, lower) != kFalse.end() ? "false" : nullptr;
}

}  // namespace

std::optional<std::string> value_advice(std::string_view text, std::size_t line, std::size_t column) {
  const std::vector<std::string_view> lines = lines_of(text);
  if (line == 0 || line > lines.size()) return std::nullopt;
  const std::string_view wrong = lines[line - 1];
  const auto start = static_cast<std::size_t>(wrong.data() - text.data());
  std::optional<std::string> advice;
  for (const BareValue& bare : bare_values(wrong, byte_of(wrong, column))) {
    const std::string value(wrong.substr(bare.first, bare.end - bare.first));
    const char* truth = truth_of(value);
    const std::string right = truth != nullptr ? truth : "\"" + value + "\"";
    std::string corrected(text);
    corrected.replace(start + bare.first, value.size(), right);
    const Reach reach = reach_of(corrected, line, bare.first + right.size());
    // Another value of the line may have the same mistake.
    if (reach == Reach::nowhere || (reach == Reach::value && advice)) continue;
    advice = "expected a value, got " + printable(value) + (truth != nullptr ? "; write: " : "; write it in quotes: ") +
             (bare.key.empty() ? "" : printable(bare.key) + " = ") + printable(right);
    if (reach == Reach::line) break;
  }
  return advice;
}

}  // namespace ferry
