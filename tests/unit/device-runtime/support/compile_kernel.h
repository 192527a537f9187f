// Small code images for tests, made from C source by the machine's own compilers, so that the loader is tested with the
// output of real linkers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::test {

enum class Linker { lld, gnu };

struct KernelOptions {
  std::string arch = "";  // "" for this machine's architecture, otherwise as in manifests
  Linker linker = Linker::lld;
  std::string flags = "-O1";
  bool position_independent = true;
};

// Returns the bytes of the shared object. Fails the running test with the compiler's messages if the source does not
// compile.
std::vector<std::uint8_t> compile_kernel(const std::string& source, const KernelOptions& options = {});

}  // namespace ferry::test
