#include "base/quantity_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace ferry {

namespace {

std::string with_unit(double value, const std::string& unit) { return number_text(value) + " " + unit; }

std::string utc(std::uint64_t milliseconds, const char* pattern) {
  constexpr std::uint64_t kYear10000 = 253'402'300'800;
  const std::uint64_t seconds = milliseconds / 1000;
  if (seconds >= kYear10000) return "out of range";
  const auto time = static_cast<std::time_t>(seconds);
  std::tm fields{};
  gmtime_r(&time, &fields);
  char text[40];
  return {text, std::strftime(text, sizeof text, pattern, &fields)};
}

std::string two_units(std::uint64_t large, const char* unit, std::uint64_t small, const char* small_unit) {
  return std::to_string(large) + " " + unit + (small == 0 ? "" : " " + std::to_string(small) + " " + small_unit);
}

}  // namespace

std::string number_text(double value, int digits) {
  if (value == 0 || !std::isfinite(value))
    return value == 0 ? "0" : std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  char text[64];
  // Rounding may add a digit before the point: 0.9996 to three digits is 1.00.
  snprintf(text, sizeof text, "%.*e", digits - 1, value);
  const int before = atoi(strchr(text, 'e') + 1) + 1;
  if (before > 15 || before < -2) {
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
  } else {
    snprintf(text, sizeof text, "%.*f", before >= digits ? 0 : digits - before, value);
  }
  return text;
}

std::string seconds_text(double seconds) {
  if (seconds < 999.5e-9) return with_unit(seconds * 1e9, "ns");
  if (seconds < 999.5e-6) return with_unit(seconds * 1e6, "us");
  if (seconds < 999.5e-3) return with_unit(seconds * 1e3, "ms");
  return with_unit(seconds, "s");
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  double value = static_cast<double>(bytes);
  const std::array<const char*, 4> units = {"KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (value /= 1024; value >= 1023.5 && unit + 1 < units.size(); value /= 1024) ++unit;
  return with_unit(value, units[unit]);
}

std::string rate_text(double per_second, const char* unit) {
  const std::array<const char*, 5> prefixes = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  for (; per_second >= 999.5 && prefix + 1 < prefixes.size(); per_second /= 1000) ++prefix;
  return number_text(per_second) + " " + prefixes[prefix] + unit;
}

std::string percent_text(double fraction) { return number_text(fraction * 100, fraction < 0.01 ? 1 : 2) + "%"; }

std::string span_text(std::uint64_t milliseconds) {
  const std::uint64_t seconds = milliseconds / 1000, minutes = seconds / 60, hours = minutes / 60;
  if (seconds == 0) return two_units(milliseconds, "ms", 0, "");
  if (minutes == 0) return two_units(seconds, "s", 0, "");
  if (minutes < 10) return two_units(minutes, "min", seconds % 60, "s");
  if (hours == 0) return two_units(minutes, "min", 0, "");
  if (hours < 24) return two_units(hours, "h", minutes % 60, "min");
  return two_units(hours / 24, "d", hours % 24, "h");
}

std::string time_text(std::uint64_t milliseconds) { return utc(milliseconds, "%Y-%m-%d %H:%M:%S"); }

std::string iso_time_text(std::uint64_t milliseconds) { return utc(milliseconds, "%Y-%m-%dT%H:%M:%SZ"); }

}  // namespace ferry
