#include "base/quantity_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ferry {

namespace {

std::string with_unit(double value, const std::string& unit) { return number_text(value) + " " + unit; }

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

}  // namespace ferry
