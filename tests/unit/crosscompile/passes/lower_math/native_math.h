// A float32 math function as machine code in this process, out[i] = f(in0[i], in1[i]) over kBatch elements, for one of
// the CPUs whose code this machine can run.
#pragma once

#include "crosscompile/ir/function.h"
#include "device-runtime/loader/elf_image.h"
#include "ferry/target/target.h"

#include <string>
#include <vector>

namespace ferry::math_test {

inline constexpr std::int64_t kBatch = 1 << 14;

// Returns the function before the passes; it computes `lanes` elements at a time.
ir::Function batch_function(const std::string& name, std::size_t arguments, std::uint32_t lanes,
                            DType dtype = DType::f32);

// Kernels rely on this alignment.
struct alignas(64) Batch {
  float values[kBatch];
};

class NativeMath {
 public:
  NativeMath(const std::string& name, std::size_t arguments, const Target& target, std::uint32_t lanes);
  void run(const Batch& first, const Batch& second, Batch& out) const;

 private:
  std::size_t arguments_;
  device::ElfImage image_;
  void* function_;
};

// Returns the x86-64 levels that this machine can run.
std::vector<std::string> native_targets();

}  // namespace ferry::math_test
