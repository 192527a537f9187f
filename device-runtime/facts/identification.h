// The lines by which Linux identifies a core.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ferry::device {

// The keys of lines of /proc/cpuinfo that identify the core, by architecture.
inline constexpr std::string_view kIdentifyingX86[] = {"vendor_id", "cpu family", "model", "model name", "stepping"};
inline constexpr std::string_view kIdentifyingArm[] = {"CPU implementer", "CPU architecture", "CPU variant", "CPU part",
                                                       "CPU revision",    "Hardware",         "Model"};
inline constexpr std::string_view kIdentifyingRiscv[] = {"isa", "uarch", "mvendorid", "marchid", "mimpid"};

// Returns the lines of these keys in a text such as /proc/cpuinfo, each distinct line once: boards with big and little
// cores have two versions of some.
std::string identifying_lines(std::string_view cpuinfo, std::span<const std::string_view> keys);

// Returns the lines that Linux would write for a 64-bit ARM core whose register MIDR_EL1 holds this.
std::string lines_of_midr(std::uint64_t midr);

}  // namespace ferry::device
