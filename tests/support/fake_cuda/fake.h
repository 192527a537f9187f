// The state of the driver that tests load instead of NVIDIA's. It is as late as a real one may be: what is asked of a
// stream happens when somebody waits for it, so a copy that nobody waited for is seen. Environment variables make it
// fail; they are read at every call:
//   FERRY_FAKE_CUDA_DEVICES   how many GPUs there are (1)
//   FERRY_FAKE_CUDA_VERSION   that the driver supports (12040)
//   FERRY_FAKE_CUDA_ARCH      of the GPUs (90)
//   FERRY_FAKE_CUDA_MEMORY    of each GPU in bytes (1 GiB)
//   FERRY_FAKE_CUDA_CRASH     the kernel that reads outside of all memory
//   FERRY_FAKE_CUDA_ERROR     what it ends with (700, an illegal address)
//   FERRY_FAKE_CUDA_SEED      of the order in which blocks and threads of PTX run (0)
//   FERRY_FAKE_CUDA_LANDING   of asynchronous copies: 0 early, 1 late, 2 at random (2)
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device-runtime/cuda/cuda_types.h"
#include "tests/support/ptx/launch.h"

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
  int dynamic_bytes = 0;  // that a launch may have
};
Kernel* find_kernel(const std::string& name);

// Of an image: the kernels of fake_kernels.cpp, and those of the image where it is PTX.
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
  std::string fault;                            // why, as far as PTX is concerned
  std::map<std::uint64_t, std::size_t> memory;  // by address in this process
  std::map<void*, std::size_t> pinned;
  std::deque<std::function<void()>> queue;
  std::size_t used = 0;
};
State& state();

// What every call but the first ones begins with.
CuResult ready();

// Addresses of the GPU mean nothing to a processor: nobody reads there by mistake.
inline constexpr std::uint64_t kGpu = std::uint64_t{1} << 60;
// Where it is in this process: null, and the GPU is broken, unless all of it is memory of the GPU or pinned.
void* real(CuDevicePointer address, std::size_t bytes);

void run_queue();

}  // namespace ferry::fake
