#include "crosscompile/passes/gpu/gpu_limits.h"

#include "base/format.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/gpu/extract_kernels.h"
#include "ferry/operators.h"

#include <limits>
#include <string>

namespace ferry::passes {
namespace {

constexpr const char* kAxisNames[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};

std::string number(std::int64_t value) { return count_text(static_cast<std::uint64_t>(value)); }

class Limits {
 public:
  Limits(const ir::Function& function, const Target& target) : function_(function), target_(target) {}

  void check_threads(const GpuKernel& kernel) const {
    std::int64_t threads = 1;
    std::string parts;
    for (std::size_t axis = kernel.block.size(); axis-- > 0;) {
      const std::int64_t extent = *ir::as_int(kernel.block[axis].extent);
      if (extent > 1) parts += (parts.empty() ? "" : ", ") + std::string(kAxisNames[axis]) + " " + number(extent);
      if (__builtin_mul_overflow(threads, extent, &threads)) threads = std::numeric_limits<std::int64_t>::max();
    }
    if (target_.block_threads != 0 && threads > target_.block_threads)
      fail(number(target_.block_threads) + " threads in a block", number(threads) + " (" + parts + ")");
    const std::int64_t z = *ir::as_int(kernel.block[2].extent), most = target_.capabilities.block_z;
    if (most != 0 && z > most) fail(number(most) + " threads along threadIdx.z", number(z));
  }

  void check_shared(const GpuKernel& kernel) const {
    if (target_.block_shared_bytes == 0 || kernel.shared_bytes <= target_.block_shared_bytes) return;
    std::string parts;
    for (const SharedArray& array : kernel.shared)
      parts += (parts.empty() ? "'" : ", '") + array.buffer->name + "' " + number(array.bytes);
    fail(number(target_.block_shared_bytes) + " bytes of shared memory for a block",
         number(kernel.shared_bytes) + " (" + parts + "); smaller tiles need less");
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
  for (const GpuKernel& kernel : extract_kernels(function)) {
    limits.check_threads(kernel);
    limits.check_shared(kernel);
  }
}

}  // namespace ferry::passes
