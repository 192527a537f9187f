#include "device-runtime/facts/identification.h"

#include <algorithm>

#include "base/format.h"
#include "device-runtime/facts/proc_files.h"

namespace ferry::device {

std::string identifying_lines(std::string_view cpuinfo, std::span<const std::string_view> keys) {
  std::string lines;
  for_each_field(cpuinfo, [&](std::string_view key, std::string_view line) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) return;
    const std::string whole = std::string(line) + "\n";
    if (lines.rfind(whole, 0) != 0 && lines.find("\n" + whole) == std::string::npos) lines += whole;
  });
  return lines;
}

std::string lines_of_midr(std::uint64_t midr) {
  const auto bits = [&](unsigned from, unsigned mask) { return static_cast<unsigned>(midr >> from) & mask; };
  return format("CPU implementer\t: 0x%02x\nCPU part\t: 0x%03x\n", bits(24, 0xff), bits(4, 0xfff));
}

}  // namespace ferry::device
