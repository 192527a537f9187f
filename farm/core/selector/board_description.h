// Describes a board: its names, what it reports, and its tags.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferry::farm {

// A device besides the CPU.
struct BoardDevice {
  std::string kind;  // "cuda" or "opencl"
  std::string arch;  // "sm_90"; empty: unknown

  bool operator==(const BoardDevice&) const = default;
};

struct BoardDescription {
  std::string name;   // unique in its farm
  std::string model;  // "rpi4", for example
  std::string arch;   // "aarch64", as module/device_archs.def names it
  std::string cpu;
  std::uint64_t memory_bytes = 0;
  std::uint32_t cores = 0;
  std::vector<std::string> features;
  std::vector<BoardDevice> devices;
  std::map<std::string, std::string> tags;  // a tag without a value has an empty one

  bool operator==(const BoardDescription&) const = default;
};

}  // namespace ferry::farm
