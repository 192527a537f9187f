// Describes a device: enough for a host to choose a compilation target and for a person to recognise the board.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry {

struct CacheFacts {
  std::uint8_t level = 0;
  std::string kind;  // "data", "instruction", "unified"
  std::uint64_t bytes = 0;
  std::uint32_t line_bytes = 0;
};

// A device that kernels can run on; index 0 is always the CPU.
struct ComputeDevice {
  std::string kind;  // "cpu", "cuda" or "opencl"
  std::string name;
  std::uint64_t memory_bytes = 0;
  std::string arch = {};  // "sm_90"; empty for other kinds than "cuda", and from older servers
};

struct DeviceFacts {
  std::string server_version;
  std::string flavour;           // "static" or "dynamic"
  std::string arch;              // the CPU's, as module/device_archs.def names it
  std::string operating_system;  // "Linux 6.1.0"
  std::string cpu_name;          // for people
  // Lines of /proc/cpuinfo that name the core: implementer, part, vendor, family, model, isa.
  std::string cpu_identification;
  std::vector<std::string> features;  // from features.def, sorted: everything that the CPU and the kernel offer
  std::uint64_t hwcap = 0;
  std::uint64_t hwcap2 = 0;
  std::uint32_t logical_cores = 0;
  std::uint32_t threads = 0;  // how many a parallel loop uses
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_available_bytes = 0;
  std::uint64_t memory_limit_bytes = 0;  // what a session may allocate
  std::uint32_t page_bytes = 0;
  std::vector<CacheFacts> caches;  // core 0's
  std::vector<ComputeDevice> devices;
  std::vector<std::string> not_enforced;  // limits that this kernel or board does not support
  bool counts_instructions = false;       // an emulator runs it and counts the instructions of calls exactly
  bool small_pages = false;               // the system has no huge pages for memory that processes share
};

}  // namespace ferry
