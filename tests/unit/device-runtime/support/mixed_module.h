// Modules by hand whose plans have steps on a GPU and on the CPU beside it.
#pragma once

#include "module/module_file.h"

namespace ferry::test {

// The indices of its devices: a GPU, and the CPU that the server runs on.
inline constexpr std::uint32_t kGpu = 0, kCpu = 1;

// f(in f32[n] A, in f32 more, out f32[n] C, in f32[n] B): C[n - 1 - i] = 2 * A[i] + B[i] + more. A and C are in the
// memory of the GPU, B in the CPU's. `gpu` is gpu_module() or cuda_module(). Its steps: twice on the GPU, a copy to
// the CPU, add there, a copy back, and reversed on the GPU.
ModuleFile mixed_module(ModuleFile gpu);

// Its first step on the CPU, to be changed.
CallStep& call_of(ModuleFile& module);

// Adds a first launch that refuses an odd n with "n is odd"; the launch of `twice` reports it.
ModuleFile with_early_verdict(ModuleFile module);

// Makes A and B constants: an init plan computes 2 * A on the GPU and keeps it there, and 2 * A + B on the CPU, which f
// then adds to 2 * A: C[n - 1 - i] = 4 * A[i] + B[i] + more.
ModuleFile with_mixed_init_plan(ModuleFile module);

}  // namespace ferry::test
