#include "ferry/gpu_facts.h"

#include "host/client/client.h"
#include "host/client/state.h"

#include <charconv>

namespace ferry {
namespace {

// Parses a number received from another machine: 0 unless it is one that fits.
template <class T>
T number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : T{};
}

}  // namespace

GpuFacts gpu_facts(const Device& device) {
  const ComputeDevice* opened = device.state()->client->compute_device();
  if (opened == nullptr)
    throw Error(ErrorCode::invalid_argument,
                "expected a session with a GPU, got one of the CPU alone: name it in ConnectOptions::devices");
  GpuFacts gpu;
  gpu.name = opened->name;
  gpu.memory_bytes = opened->memory_bytes;
  const std::vector<std::string> names = {"architecture",
                                          "driver",
                                          "block_threads",
                                          "block_registers",
                                          "block_shared_bytes",
                                          "warp_threads",
                                          "multiprocessors",
                                          "multiprocessor_threads",
                                          "multiprocessor_registers",
                                          "multiprocessor_shared_bytes",
                                          "l2_bytes",
                                          "peak_clock_khz",
                                          "peak_memory_clock_khz",
                                          "memory_bus_bits",
                                          "max_sm_clock_mhz",
                                          "max_memory_clock_mhz"};
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back("gpu:" + name);
  std::vector<std::string> texts = device.read_files(paths);
  texts.resize(paths.size());
  std::size_t next = 0;
  gpu.architecture = texts[next++];
  gpu.driver = texts[next++];
  gpu.block_threads = number<std::uint32_t>(texts[next++]);
  gpu.block_registers = number<std::uint32_t>(texts[next++]);
  gpu.block_shared_bytes = number<std::uint64_t>(texts[next++]);
  gpu.warp_threads = number<std::uint32_t>(texts[next++]);
  gpu.multiprocessors = number<std::uint32_t>(texts[next++]);
  gpu.multiprocessor_threads = number<std::uint32_t>(texts[next++]);
  gpu.multiprocessor_registers = number<std::uint32_t>(texts[next++]);
  gpu.multiprocessor_shared_bytes = number<std::uint64_t>(texts[next++]);
  gpu.l2_bytes = number<std::uint64_t>(texts[next++]);
  gpu.clock_mhz = number<std::uint32_t>(texts[next++]) / 1000;
  gpu.memory_clock_mhz = number<std::uint32_t>(texts[next++]) / 1000;
  gpu.memory_bus_bits = number<std::uint32_t>(texts[next++]);
  if (gpu.clock_mhz == 0) gpu.clock_mhz = number<std::uint32_t>(texts[next]);
  ++next;
  if (gpu.memory_clock_mhz == 0) gpu.memory_clock_mhz = number<std::uint32_t>(texts[next]);
  // Memory transfers data on both edges of its clock.
  gpu.memory_bytes_per_second = 2e6 * gpu.memory_clock_mhz * gpu.memory_bus_bits / 8;
  return gpu;
}

}  // namespace ferry
