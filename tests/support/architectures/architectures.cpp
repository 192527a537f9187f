#include "tests/support/architectures/architectures.h"

#include <stdexcept>

namespace ferry::test {

namespace {

constexpr TestArchitecture kArchitectures[] = {
    {"x86_64", "x86_64-linux-gnu", "x86_64-unknown-linux-gnu", "qemu-x86_64", "max"},
    {"armv7", "arm-linux-gnueabihf", "armv7-unknown-linux-gnueabihf", "qemu-arm", "cortex-a7"},
    {"aarch64", "aarch64-linux-gnu", "aarch64-unknown-linux-gnu", "qemu-aarch64", "cortex-a72"},
    {"riscv64", "riscv64-linux-gnu", "riscv64-unknown-linux-gnu", "qemu-riscv64", "rv64,v=true"},
};

}  // namespace

const TestArchitecture& architecture_named(const std::string& name) {
  for (const TestArchitecture& architecture : kArchitectures)
    if (name == architecture.name) return architecture;
  throw std::invalid_argument("tests know no architecture '" + name + "'");
}

std::string native_arch() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#elif defined(__arm__)
  return "armv7";
#else
  return "riscv64";
#endif
}

std::vector<std::string> emulator_of(const std::string& arch) {
  if (arch == native_arch()) return {};
  const TestArchitecture& architecture = architecture_named(arch);
  return {architecture.emulator, "-cpu", architecture.cpu};
}

std::vector<std::string> emulator_with_libraries(const std::string& arch) {
  const TestArchitecture& architecture = architecture_named(arch);
  return {architecture.emulator, "-cpu", architecture.cpu, "-L", std::string("/usr/") + architecture.gnu_triple};
}

}  // namespace ferry::test
