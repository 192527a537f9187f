// Properties of a GPU, for schedules tuned to it and for display.
//
//     const Device device = local_device({.devices = {"cuda"}});
//     const GpuFacts gpu = gpu_facts(device);
//     const std::int64_t tile = gpu.block_shared_bytes >= 64 * 1024 ? 128 : 64;
#pragma once

#include "ferry/api.h"
#include "ferry/client.h"

#include <cstdint>
#include <string>

namespace ferry {

// Numbers are 0 if the device does not report them.
struct GpuFacts {
  std::string name;          // "NVIDIA H200 (sm_90)"
  std::string architecture;  // CUDA only: "sm_90"
  std::string driver;        // the CUDA version that it supports: "12.4"
  std::uint64_t memory_bytes = 0;
  // Limits of a block.
  std::uint32_t block_threads = 0, block_registers = 0;
  std::uint64_t block_shared_bytes = 0;
  std::uint32_t warp_threads = 0;
  // A multiprocessor (OpenCL: compute unit) holds several blocks at a time.
  std::uint32_t multiprocessors = 0, multiprocessor_threads = 0, multiprocessor_registers = 0;
  std::uint64_t multiprocessor_shared_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::uint32_t clock_mhz = 0, memory_clock_mhz = 0, memory_bus_bits = 0;  // clocks at their maximum
  double memory_bytes_per_second = 0;  // derived from the memory's clock and bus width
};

// Describes the first device besides the CPU that the session was opened with. Throws Error with invalid_argument
// if there is none.
FERRY_API GpuFacts gpu_facts(const Device& device);

}  // namespace ferry
