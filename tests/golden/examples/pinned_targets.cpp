#include "tests/golden/examples/pinned_targets.h"

#include <glob.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "crosscompile/codegen/cuda/cuda_files.h"
#include "crosscompile/codegen/cuda/nvrtc.h"
#include "crosscompile/codegen/llvm/target/llvm_version.h"
#include "crosscompile/target/resolve.h"
#include "ferry/hash.h"

#include "tests/paths.h"

namespace ferry::test {

namespace {

using codegen::cuda::CudaFile;

void use_package(const char* variable, const char* file) {
  glob_t found{};
  const std::string pattern = std::string(FERRY_SOURCE_DIR "/build/venv/lib/python3*/site-packages/nvidia/") + file;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0 && found.gl_pathc > 0) setenv(variable, found.gl_pathv[0], 0);
  globfree(&found);
}

// Toolkits differ from machine to machine; scripts/test-requirements.txt names one version of these.
void use_pinned_packages() {
  use_package("FERRY_NVRTC", "cuda_nvrtc/lib/libnvrtc.so.12");
  use_package("FERRY_LIBDEVICE", "cuda_nvcc/nvvm/libdevice/libdevice.10.bc");
}

// NVRTC's own version has no patch level; the size of its library does.
std::string nvrtc_version() {
  const std::string path = codegen::cuda::find_cuda_file(CudaFile::nvrtc);
  if (path.empty() || !std::filesystem::exists(path)) return "none";
  return codegen::cuda::nvrtc_version() + ", " + std::to_string(std::filesystem::file_size(path)) + " bytes";
}

std::string libdevice_version() {
  std::ifstream file(codegen::cuda::find_cuda_file(CudaFile::libdevice), std::ios::binary);
  if (!file) return "none";
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  return to_hex(blake2b(bytes)).substr(0, 16);
}

// The compiler chooses which operand of a call is evaluated first, and with it the order of instructions.
std::string cpp_compiler() {
#ifdef __clang__
  return "Clang";
#else
  return "GCC";
#endif
}

}  // namespace

std::vector<PinnedTarget> pinned_targets() {
  use_pinned_packages();
  std::vector<PinnedTarget> targets;
  for (const NamedTarget& named : named_targets())
    if (named.name != "host") targets.push_back({named.name, "", {}, {"C++ compiler", "LLVM"}});
  targets.push_back({"c", "c", {}, {"C++ compiler"}});
  targets.push_back({"opencl", "", {}, {"C++ compiler"}});
  for (const char* gpu : {"sm_70", "sm_80", "sm_90"}) {
    const std::string name = std::string("cuda -arch=") + gpu;
    targets.push_back({name, "cuda", {}, {"C++ compiler"}});
    targets.push_back({name + " -compiler=llvm", "", {}, {"C++ compiler", "LLVM", "libdevice"}});
  }
  targets.push_back({"cuda -arch=sm_80,sm_90", "", {}, {"C++ compiler", "LLVM", "libdevice", "NVRTC"}});
  for (PinnedTarget& pinned : targets) pinned.target = resolve_target(pinned.name);
  return targets;
}

std::map<std::string, std::string> tool_versions() {
  use_pinned_packages();
  return {{"C++ compiler", cpp_compiler()},
          {"LLVM", codegen::llvm_version()},
          {"NVRTC", nvrtc_version()},
          {"libdevice", libdevice_version()}};
}

}  // namespace ferry::test
