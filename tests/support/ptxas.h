// NVIDIA's assembler, for tests that must not be skipped without it.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "crosscompile/codegen/cuda/cuda_files.h"
#include "tests/paths.h"

namespace ferry::test {

// Makes ferry find NVIDIA's packages where scripts/setup.sh installs them.
inline void use_test_packages() { setenv("VIRTUAL_ENV", FERRY_SOURCE_DIR "/build/venv", 0); }

// Returns the messages of ptxas for the text; "" if it accepts it.
inline std::string assembled(const std::string& ptx, const std::string& gpu) {
  const std::string base = std::string(FERRY_BINARY_DIR) + "/ptxas." + std::to_string(getpid());
  std::ofstream(base + ".ptx") << ptx;
  const std::string command = codegen::cuda::expect_cuda_file(codegen::cuda::CudaFile::ptxas) + " -arch=" + gpu + " " +
                              base + ".ptx -o " + base + ".cubin 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string output;
  char piece[4096];
  while (const std::size_t count = fread(piece, 1, sizeof piece, pipe)) output.append(piece, count);
  if (pclose(pipe) != 0 && output.empty()) output = "ptxas failed";
  unlink((base + ".ptx").c_str());
  unlink((base + ".cubin").c_str());
  return output;
}

}  // namespace ferry::test
