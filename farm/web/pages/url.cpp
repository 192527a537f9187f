#include "farm/web/pages/url.h"

#include <charconv>
#include <cstdint>

namespace ferry::farm::http {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string percent_encode(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    if (is_unreserved(c)) {
      result += c;
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(c);
    result += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return result;
}

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      result += ' ';
    } else if (text[i] != '%') {
      result += text[i];
    } else {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
      if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
      result += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return result;
}

std::string link(std::string_view path,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> parameters) {
  std::string result(path);
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    result += separator;
    result += std::string(name) + "=" + percent_encode(value);
    separator = '&';
  }
  return result;
}

std::optional<Parameters> parse_parameters(std::string_view text, std::size_t limit) {
  Parameters result;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    const auto name = percent_decode(pair.substr(0, equals), true);
    const auto value = equals == std::string_view::npos ? std::string() : percent_decode(pair.substr(equals + 1), true);
    if (!name || !value || result.size() == limit) return std::nullopt;
    result.emplace_back(*name, *value);
  }
  return result;
}

const std::string& parameter(const Parameters& parameters, std::string_view name) {
  static const std::string kNone;
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return kNone;
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace ferry::farm::http
