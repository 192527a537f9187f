// Where the pieces of NVIDIA's compiler are on this machine, of an installed CUDA Toolkit or of PyPI's packages.
// Nothing of them is needed to build or to run ferry.
#pragma once

#include <string>
#include <vector>

namespace ferry::codegen::cuda {

enum class CudaFile {
  nvrtc,      // the library that compiles CUDA C
  ptxas,      // the program that assembles PTX
  libdevice,  // math functions as LLVM bitcode
};

// The first that exists: what the environment variable FERRY_NVRTC, FERRY_PTXAS or FERRY_LIBDEVICE names, then
// CUDA_HOME, CUDA_PATH, /usr/local/cuda*, and the Python packages nvidia-cuda-nvrtc and nvidia-cuda-nvcc of
// VIRTUAL_ENV, of the user and of the system. Empty: none.
std::string find_cuda_file(CudaFile file);

// CompileError with where it was looked for and how to get it.
std::string expect_cuda_file(CudaFile file);

}  // namespace ferry::codegen::cuda
