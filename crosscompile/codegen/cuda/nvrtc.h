// Compiles CUDA C to machine code for a GPU with NVIDIA's own compiler, which is loaded on first use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::codegen::cuda {

enum class CudaForm : std::uint8_t { cubin, ptx };

// A file that the text may include, which is found before those of folders.
struct CudaHeader {
  std::string name;
  std::string text;
};

struct CudaText {
  std::string text;
  std::string name;                       // what the compiler calls it in its messages
  std::vector<std::string> options = {};  // beside the architecture
  std::vector<CudaHeader> headers = {};
  std::vector<std::string> expressions = {};  // names of functions of C++, such as "f<int>", whose symbols are wanted
};

struct CudaCode {
  std::vector<std::uint8_t> bytes;        // a cubin, or PTX with the 0 at its end
  std::vector<std::string> symbols = {};  // one for each expression
};

// Compiles for "sm_90", for example. Throws CompileError when there is no NVRTC, when it does not know the GPU, or with
// its messages, which count the text's lines, when it rejects the text.
CudaCode compile_cuda(const CudaText& text, const std::string& gpu, CudaForm form = CudaForm::cubin);

// Loads NVRTC, if it is not loaded already. Throws CompileError when there is none.
void load_nvrtc();

// Returns whether the installed NVRTC compiles for the GPU: CUDA 13 does not for GPUs before sm_75. Throws CompileError
// without NVRTC.
bool nvrtc_knows(const std::string& gpu);

// Returns the version, such as "12.9".
std::string nvrtc_version();

}  // namespace ferry::codegen::cuda
