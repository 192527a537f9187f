#include "farm/web/pages/reading.h"

#include <chrono>
#include <ctime>

#include "base/format.h"
#include "base/quantity_text.h"

namespace ferry::farm::http {
namespace {

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
  std::string text = format("%llu %s", static_cast<unsigned long long>(large), unit);
  if (small != 0) text += format(" %llu %s", static_cast<unsigned long long>(small), small_unit);
  return text;
}

}  // namespace

std::string duration_text(std::uint64_t milliseconds) {
  const std::uint64_t seconds = milliseconds / 1000, minutes = seconds / 60, hours = minutes / 60;
  if (seconds == 0) return two_units(milliseconds, "ms", 0, "");
  if (minutes == 0) return two_units(seconds, "s", 0, "");
  if (minutes < 10) return two_units(minutes, "min", seconds % 60, "s");
  if (hours == 0) return two_units(minutes, "min", 0, "");
  if (hours < 24) return two_units(hours, "h", minutes % 60, "min");
  return two_units(hours / 24, "d", hours % 24, "h");
}

std::string temperature_text(std::optional<std::int32_t> millidegrees) {
  return millidegrees ? format("%.1f °C", *millidegrees / 1e3) : "none";
}

std::string load_text(std::uint32_t permille) { return format("%.2f", permille / 1e3); }

std::string picoseconds_text(std::uint64_t picoseconds) {
  return picoseconds == 0 ? "failed" : seconds_text(static_cast<double>(picoseconds) / 1e12);
}

std::string time_text(std::uint64_t milliseconds) { return utc(milliseconds, "%Y-%m-%d %H:%M:%S"); }

std::string iso_time_text(std::uint64_t milliseconds) { return utc(milliseconds, "%Y-%m-%dT%H:%M:%SZ"); }

}  // namespace ferry::farm::http
