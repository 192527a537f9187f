// Small code images for tests, made by the machine's own compilers from C source, so that the loader meets what real
// linkers write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::test {

enum class Linker { lld, gnu };

struct KernelOptions {
  std::string arch = "";  // "" for this machine's, else as manifests spell it
  Linker linker = Linker::lld;
  std::string flags = "-O1";
  bool position_independent = true;
};

// The bytes of the shared object. Fails the running test with the compiler's own words when it does not compile.
std::vector<std::uint8_t> compile_kernel(const std::string& source, const KernelOptions& options = {});

// "x86_64", "armv7", "aarch64" or "riscv64": what this test program was built for.
std::string native_arch();

}  // namespace ferry::test
