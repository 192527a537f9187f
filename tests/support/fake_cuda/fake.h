// The state of the driver that tests load instead of NVIDIA's. It executes as late as a real driver may: stream
// operations run only when somebody waits for the stream, so the use of a copy that nobody waited for is detected.
// Environment variables configure it and make it fail; they are read at every call:
//   FERRY_FAKE_CUDA_DEVICES   number of GPUs (1)
//   FERRY_FAKE_CUDA_VERSION   version that the driver supports (12040)
//   FERRY_FAKE_CUDA_ARCH      architecture of the GPUs (90)
//   FERRY_FAKE_CUDA_MEMORY    memory of each GPU in bytes (1 GiB)
//   FERRY_FAKE_CUDA_CRASH     the kernel that reads outside of all memory
//   FERRY_FAKE_CUDA_ERROR     the error of that kernel (700, an illegal address)
//   FERRY_FAKE_CUDA_SEED      seed for the order in which blocks and threads of PTX run (0)
//   FERRY_FAKE_CUDA_LANDING   when asynchronous copies arrive: 0 early, 1 late, 2 at random (2)
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crosscompile/ptx/launch.h"
#include "device-runtime/cuda/cuda_types.h"

#define FERRY_FAKE_API extern "C" [[gnu::visibility("default")]] ferry::device::CuResult

namespace ferry::fake {

using namespace ferry::device;

inline constexpr CuResult kNotInitialized = 3, kInvalidContext = 201;

long long setting(const char* name, long long otherwise);

struct Event {
  bool is_pending = false;
  double milliseconds = 0;  // when it happened
};

struct Shape {
  std::array<unsigned, 3> grid, block;
  unsigned shared_bytes;
};

struct Kernel {
  std::string name;
  std::vector<std::size_t> parameter_bytes;
  int max_threads, registers, shared_bytes;
  std::function<void(const Shape& shape, void** parameters)> run;
  int dynamic_bytes = 0;  // most that a launch may have
};
Kernel* find_kernel(const std::string& name);

// A loaded image: the kernels of fake_kernels.cpp, and those of the image if it is PTX.
struct LoadedModule {
  std::unique_ptr<ptx::Program> program;
  std::map<std::string, Kernel> kernels;
  Kernel* find(const std::string& kernel) {
    if (Kernel* known = find_kernel(kernel); known != nullptr) return known;
    const auto found = kernels.find(kernel);
    return found == kernels.end() ? nullptr : &found->second;
  }
};
// Throws ptx::ParseError.
std::unique_ptr<LoadedModule> load_ptx(const std::string& text);

struct State {
  bool is_awake = false;
  bool has_context = false;
  CuResult broken = kCuSuccess;                 // sticky
  std::string fault;                            // the reason, for faults in PTX
  std::map<std::uint64_t, std::size_t> memory;  // by address in this process
  std::map<void*, std::size_t> pinned;
  std::deque<std::function<void()>> queue;
  std::size_t used = 0;
};
State& state();

// The check that every call except initialization begins with.
CuResult ready();

// GPU addresses are not valid host addresses, so an accidental host access faults.
inline constexpr std::uint64_t kGpu = std::uint64_t{1} << 60;
// Returns the host address; null, and the GPU breaks, unless the whole range is memory of the GPU or pinned.
void* real(CuDevicePointer address, std::size_t bytes);

void run_queue();

}  // namespace ferry::fake
