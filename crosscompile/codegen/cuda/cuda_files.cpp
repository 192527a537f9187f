#include "crosscompile/codegen/cuda/cuda_files.h"

#include "crosscompile/ir/error.h"

#include <glob.h>
#include <unistd.h>

#include <cstdlib>

namespace ferry::codegen::cuda {
namespace {

struct Description {
  const char* what;
  const char* variable;
  const char* in_toolkit[2];  // patterns relative to a toolkit's folder
  const char* in_python[2];   // relative to a folder of Python packages
  const char* package;
};

const Description& description_of(CudaFile file) {
  static constexpr Description kNvrtc{
      "NVRTC, which compiles CUDA C",
      "FERRY_NVRTC",
      {"lib64/libnvrtc.so.1[0-9]", "lib64/libnvrtc.so"},
      {"nvidia/cuda_nvrtc/lib/libnvrtc.so.1[0-9]", "nvidia/cu1[0-9]/lib/libnvrtc.so.1[0-9]"},
      "nvidia-cuda-nvrtc-cu12"};
  static constexpr Description kPtxas{"ptxas, which assembles PTX",
                                      "FERRY_PTXAS",
                                      {"bin/ptxas", nullptr},
                                      {"nvidia/cuda_nvcc/bin/ptxas", "nvidia/cu1[0-9]/bin/ptxas"},
                                      "nvidia-cuda-nvcc-cu12"};
  static constexpr Description kLibdevice{
      "libdevice, the math functions of CUDA",
      "FERRY_LIBDEVICE",
      {"nvvm/libdevice/libdevice.10.bc", nullptr},
      {"nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc", "nvidia/cu1[0-9]/nvvm/libdevice/libdevice.10.bc"},
      "nvidia-cuda-nvcc-cu12"};
  switch (file) {
    case CudaFile::nvrtc: return kNvrtc;
    case CudaFile::ptxas: return kPtxas;
    case CudaFile::libdevice: break;
  }
  return kLibdevice;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the last match, which is the newest version; empty when there is none.
std::string matching(const std::string& pattern) {
  glob_t found{};
  std::string path;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0 && found.gl_pathc > 0) path = found.gl_pathv[found.gl_pathc - 1];
  globfree(&found);
  return path;
}

std::vector<std::string> toolkit_folders() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string folder = environment(variable); !folder.empty()) folders.push_back(std::move(folder));
  folders.insert(folders.end(), {"/usr/local/cuda", "/usr/local/cuda-1[0-9].*", "/opt/cuda"});
  return folders;
}

std::vector<std::string> python_folders() {
  std::vector<std::string> folders;
  if (const std::string venv = environment("VIRTUAL_ENV"); !venv.empty())
    folders.push_back(venv + "/lib/python3*/site-packages");
  if (const std::string home = environment("HOME"); !home.empty())
    folders.push_back(home + "/.local/lib/python3*/site-packages");
  folders.insert(folders.end(), {"/usr/local/lib/python3*/dist-packages", "/usr/lib/python3/dist-packages"});
  return folders;
}

}  // namespace

std::string find_cuda_file(CudaFile file) {
  const Description& description = description_of(file);
  if (std::string named = environment(description.variable); !named.empty()) return named;
  for (const std::string& folder : toolkit_folders())
    for (const char* pattern : description.in_toolkit)
      if (pattern != nullptr)
        if (std::string path = matching(folder + "/" + pattern); !path.empty()) return path;
  for (const std::string& folder : python_folders())
    for (const char* pattern : description.in_python)
      if (std::string path = matching(folder + "/" + pattern); !path.empty()) return path;
  return "";
}

std::string cuda_header_folder() {
  constexpr const char* kHeader = "/cuda_fp16.h";
  std::vector<std::string> patterns;
  for (const std::string& folder : toolkit_folders()) patterns.push_back(folder + "/include");
  for (const std::string& folder : python_folders())
    for (const char* inside : {"/nvidia/cuda_runtime/include", "/nvidia/cu1[0-9]/include"})
      patterns.push_back(folder + inside);
  for (const std::string& pattern : patterns)
    if (const std::string header = matching(pattern + kHeader); !header.empty())
      return header.substr(0, header.rfind('/'));
  return "";
}

std::string expect_cuda_file(CudaFile file) {
  const Description& description = description_of(file);
  const std::string path = find_cuda_file(file);
  if (!path.empty() && access(path.c_str(), R_OK) == 0) return path;
  throw CompileError(std::string("expected ") + description.what + ", got " +
                     (path.empty() ? "none on this machine" : "no such file: '" + path + "'") +
                     ": install a CUDA Toolkit, or run 'pip install " + description.package +
                     "' in the Python environment that VIRTUAL_ENV names, or name the file with " +
                     description.variable);
}

}  // namespace ferry::codegen::cuda
