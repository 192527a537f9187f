#include "farm/web/pages/reading.h"

#include "base/format.h"
#include "base/quantity_text.h"

namespace ferry::farm::http {

std::string temperature_text(std::optional<std::int32_t> millidegrees) {
  return millidegrees ? format("%.1f °C", *millidegrees / 1e3) : "none";
}

std::string load_text(std::uint32_t permille) { return format("%.2f", permille / 1e3); }

std::string picoseconds_text(std::uint64_t picoseconds) {
  return picoseconds == 0 ? "failed" : seconds_text(static_cast<double>(picoseconds) / 1e12);
}

}  // namespace ferry::farm::http
