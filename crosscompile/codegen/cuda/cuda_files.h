// Locates the components of NVIDIA's compiler on this machine, in an installed CUDA Toolkit or in PyPI's packages.
// Building and running ferry requires none of them.
#pragma once

#include <string>
#include <vector>

namespace ferry::codegen::cuda {

enum class CudaFile {
  nvrtc,      // the library that compiles CUDA C
  ptxas,      // the program that assembles PTX
  libdevice,  // math functions as LLVM bitcode
};

// Returns the first that exists: the file that the environment variable FERRY_NVRTC, FERRY_PTXAS or FERRY_LIBDEVICE
// names, then CUDA_HOME, CUDA_PATH, /usr/local/cuda*, and the Python packages nvidia-cuda-nvrtc and nvidia-cuda-nvcc of
// VIRTUAL_ENV, of the user and of the system. Empty when there is none.
std::string find_cuda_file(CudaFile file);

// Returns the folder with CUDA's headers, such as cuda_fp16.h, of a toolkit or of the Python package
// nvidia-cuda-runtime; empty when there is none.
std::string cuda_header_folder();

// Throws CompileError that says where the file was searched and how to get it.
std::string expect_cuda_file(CudaFile file);

}  // namespace ferry::codegen::cuda
