// Compiles CUDA C by NVRTC, in a process of its own that is confined (crosscompile/confine) as clang is, since the file
// may be anybody's: it reads NVRTC, CUDA's headers, the file's folder and those of -I options, and ends after a minute.
#pragma once

#include <string>
#include <vector>

#include "crosscompile/codegen/cuda/nvrtc.h"

namespace ferry::foreign {

// Returns whether the file is CUDA C, by its name: .cu
bool is_cuda(const std::string& file);

// One of several compilations of a file.
struct CudaTask {
  std::string gpu;  // "sm_90"
  codegen::cuda::CudaForm form = codegen::cuda::CudaForm::cubin;
  std::string appended = {};                  // text behind that of the file
  std::vector<std::string> expressions = {};  // as of CudaText
};

// Compiles the text of the file, once for each task. Throws CompileError with NVRTC's own message, or with advice on
// how to install it when it is missing.
std::vector<codegen::cuda::CudaCode> compile_cuda_file(const std::string& file, const std::string& text,
                                                       const std::vector<std::string>& flags,
                                                       const std::vector<CudaTask>& tasks);

}  // namespace ferry::foreign
