#include "base/quantity.h"

#include <charconv>
#include <cmath>

#include "base/format.h"

namespace ferry {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr Unit kTimes[] = {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}};
constexpr double kKilo = 1024;
constexpr Unit kBytes[] = {{"", 1},
                           {"B", 1},
                           {"K", kKilo},
                           {"KiB", kKilo},
                           {"M", kKilo* kKilo},
                           {"MiB", kKilo* kKilo},
                           {"G", kKilo* kKilo* kKilo},
                           {"GiB", kKilo* kKilo* kKilo}};
// A double holds every whole number up to this.
constexpr double kMostByteCount = 9007199254740992.0;

std::uint64_t seconds_of(char unit) {
  switch (unit) {
    case 's': return 1;
    case 'm': return 60;
    case 'h': return 3600;
    case 'd': return 24 * 3600;
    default: return 0;
  }
}

// Takes the number from the beginning of the text, and the spaces behind it.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  return number;
}

std::optional<double> with_unit_of(const auto& units, std::string_view text) {
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  for (const Unit& unit : units)
    if (text == unit.name) return *number * unit.factor;
  return std::nullopt;
}

}  // namespace

std::optional<double> parse_percent(std::string_view text) {
  const auto number = take_number(text);
  return number && text == "%" ? std::optional(*number / 100) : std::nullopt;
}

std::optional<double> parse_seconds(std::string_view text) { return with_unit_of(kTimes, text); }

std::optional<std::uint64_t> parse_byte_count(std::string_view text) {
  const auto bytes = with_unit_of(kBytes, text);
  if (!bytes || *bytes < 0 || *bytes > kMostByteCount) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(*bytes));
}

std::optional<std::uint64_t> parse_span(std::string_view text) {
  constexpr std::uint64_t kMostSeconds = 365ull * 24 * 3600;
  if (text.empty()) return std::nullopt;
  std::uint64_t total = 0;
  while (!text.empty()) {
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const std::uint64_t unit = error == std::errc() && end != text.data() + text.size() ? seconds_of(*end) : 0;
    if (unit == 0 || count > kMostSeconds || (total += count * unit) > kMostSeconds) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end + 1 - text.data()));
  }
  return total * 1000;
}

std::string written_span(std::int64_t milliseconds) {
  if (milliseconds < 0 || milliseconds % 1000 != 0) return format("%gs", static_cast<double>(milliseconds) / 1000);
  const long long seconds = milliseconds / 1000;
  std::string text;
  if (seconds >= 3600) text += format("%lldh", seconds / 3600);
  if (seconds / 60 % 60 != 0) text += format("%lldm", seconds / 60 % 60);
  if (seconds % 60 != 0 || text.empty()) text += format("%llds", seconds % 60);
  return text;
}

}  // namespace ferry
