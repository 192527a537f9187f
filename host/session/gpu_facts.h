// What a GPU is, for schedules that are made for it and for people.
//
//     const Device device = local_device({.devices = {"cuda"}});
//     const GpuFacts gpu = gpu_facts(device);
//     const std::int64_t tile = gpu.block_shared_bytes >= 64 * 1024 ? 128 : 64;
#pragma once

#include "host/session/ferry.h"

#include <cstdint>
#include <string>

namespace ferry {

// Numbers are 0 where the device does not tell.
struct GpuFacts {
  std::string name;          // "NVIDIA H200 (sm_90)"
  std::string architecture;  // of CUDA: "sm_90"
  std::string driver;        // the CUDA that it supports: "12.4"
  std::uint64_t memory_bytes = 0;
  // Of a block.
  std::uint32_t block_threads = 0, block_registers = 0;
  std::uint64_t block_shared_bytes = 0;
  std::uint32_t warp_threads = 0;
  // Each multiprocessor (of OpenCL, compute unit) has room for several blocks.
  std::uint32_t multiprocessors = 0, multiprocessor_threads = 0, multiprocessor_registers = 0;
  std::uint64_t multiprocessor_shared_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::uint32_t clock_mhz = 0, memory_clock_mhz = 0, memory_bus_bits = 0;  // clocks at their highest
  double memory_bytes_per_second = 0;                                      // that the memory's clock and bus come to
};

// Of the first device beside the CPU that the session was opened with. RemoteError with invalid_argument when it was
// opened with none.
FERRY_API GpuFacts gpu_facts(const Device& device);

}  // namespace ferry
