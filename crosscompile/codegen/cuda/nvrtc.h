// CUDA C to machine code for a GPU, by NVIDIA's own compiler, which is loaded when it is first asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::codegen::cuda {

// For "sm_90": a cubin. `name` is what the compiler calls the text in its messages. CompileError when there is no
// NVRTC, when it does not know the GPU, or with its messages, which count the text's lines, when it refuses the text.
std::vector<std::uint8_t> compile_cuda(const std::string& text, const std::string& gpu, const std::string& name);

// Whether the NVRTC that is found compiles for it: CUDA 13 does not for GPUs before sm_75. CompileError without NVRTC.
bool nvrtc_knows(const std::string& gpu);

// "12.9"
std::string nvrtc_version();

}  // namespace ferry::codegen::cuda
