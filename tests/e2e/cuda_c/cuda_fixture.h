// The command line with NVRTC's stand-in, and a server with a GPU that interprets PTX.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "crosscompile/codegen/cuda/cuda_files.h"
#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"
#include "tests/support/ptxas.h"

namespace ferry::test {

// Makes NVRTC's machine code PTX, which the stand-in for the driver runs. Returns whether there is an NVRTC.
inline bool has_nvrtc() {
  static const bool found = [] {
    use_test_packages();
    const std::string library = codegen::cuda::find_cuda_file(codegen::cuda::CudaFile::nvrtc);
    if (library.empty()) {
      MESSAGE("skipped: there is no NVRTC (scripts/setup.sh installs it)");
      return false;
    }
    setenv("FERRY_REAL_NVRTC", library.c_str(), 1);
    setenv("FERRY_NVRTC", FERRY_BINARY_DIR "/fake_nvrtc/libptx_nvrtc.so", 1);
    return true;
  }();
  return found;
}

class CudaServer {
 public:
  std::string address() const { return server_.address(); }

 private:
  ListeningServer server_{FERRY_BINARY_DIR "/device-runtime/rpc_server",
                          {"env", "LD_LIBRARY_PATH=" FERRY_BINARY_DIR "/fake_cuda", "FERRY_FAKE_CUDA_ARCH=80"},
                          {"--quiet"}};
};

inline std::string example(const std::string& name) { return FERRY_SOURCE_DIR "/examples/cuda/" + name; }

inline Outcome check_text(const std::string& text, std::vector<std::string> words) {
  const Folder folder;
  words.insert(words.begin(), {"check", folder.file("k.cu", text)});
  return run_ferry(words);
}

}  // namespace ferry::test
