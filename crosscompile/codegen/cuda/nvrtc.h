// Compiles CUDA C to machine code for a GPU with NVIDIA's own compiler, which is loaded on first use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::codegen::cuda {

// Returns a cubin for "sm_90", for example. `name` is what the compiler calls the text in its messages. Throws
// CompileError when there is no NVRTC, when it does not know the GPU, or with its messages, which count the text's
// lines, when it rejects the text.
std::vector<std::uint8_t> compile_cuda(const std::string& text, const std::string& gpu, const std::string& name);

// Returns whether the installed NVRTC compiles for the GPU: CUDA 13 does not for GPUs before sm_75. Throws CompileError
// without NVRTC.
bool nvrtc_knows(const std::string& gpu);

// Returns the version, such as "12.9".
std::string nvrtc_version();

}  // namespace ferry::codegen::cuda
