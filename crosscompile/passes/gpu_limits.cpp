#include "crosscompile/passes/gpu_limits.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/operators.h"
#include "crosscompile/passes/launches.h"

#include <limits>
#include <string>

namespace ferry::passes {
namespace {

constexpr const char* kAxisNames[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};
// threadIdx.z of CUDA: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr std::int64_t kCudaThreadsZ = 64;

// 65,536
std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

class Limits {
 public:
  Limits(const ir::Function& function, const Target& target) : function_(function), target_(target) {}

  void check_threads(const Launch& launch) const {
    std::int64_t threads = 1;
    std::string parts;
    for (std::size_t axis = launch.block.size(); axis-- > 0;) {
      const std::int64_t extent = *ir::as_int(launch.block[axis].extent);
      if (extent > 1) parts += (parts.empty() ? "" : ", ") + std::string(kAxisNames[axis]) + " " + grouped(extent);
      if (__builtin_mul_overflow(threads, extent, &threads)) threads = std::numeric_limits<std::int64_t>::max();
    }
    if (target_.block_threads != 0 && threads > target_.block_threads)
      fail(grouped(target_.block_threads) + " threads in a block", grouped(threads) + " (" + parts + ")");
    if (const std::int64_t z = *ir::as_int(launch.block[2].extent); target_.arch == "cuda" && z > kCudaThreadsZ)
      fail(grouped(kCudaThreadsZ) + " threads along threadIdx.z", grouped(z));
  }

  void check_shared(const Launch& launch) const {
    if (target_.block_shared_bytes == 0 || launch.shared_bytes <= target_.block_shared_bytes) return;
    std::string parts;
    for (const ir::BufferRef& buffer : launch.shared)
      parts += (parts.empty() ? "'" : ", '") + buffer->name + "' " + grouped(shared_bytes_of(*buffer));
    fail(grouped(target_.block_shared_bytes) + " bytes of shared memory for a block",
         grouped(launch.shared_bytes) + " (" + parts + "); smaller tiles need less");
  }

 private:
  [[noreturn]] void fail(const std::string& expected, const std::string& got) const {
    throw CompileError("'" + function_.name + "': expected at most " + expected + " on the target '" + target_.text +
                       "', got " + got);
  }

  const ir::Function& function_;
  const Target& target_;
};

}  // namespace

void check_gpu_limits(const ir::Function& function, const Target& target) {
  const Limits limits(function, target);
  for (const Launch& launch : launches_of(function)) {
    limits.check_threads(launch);
    limits.check_shared(launch);
  }
}

}  // namespace ferry::passes
