#include "tests/support/architectures/architectures.h"

#include <iterator>
#include <stdexcept>
#include <string_view>

namespace ferry::test {

namespace {

// The triple of an architecture of module/device_archs.def.
constexpr const char* triple_of(std::string_view arch) {
#define FERRY_DEVICE_ARCH(name, triple, pointer_bits, machine, other_machine) \
  if (arch == #name) return triple;
#include "module/device_archs.def"
#undef FERRY_DEVICE_ARCH
  return nullptr;
}

constexpr TestArchitecture kArchitectures[] = {
    {"x86_64", triple_of("x86_64"), "x86_64-linux-gnu", "qemu-x86_64", "max", "ret", true},
    {"armv7", triple_of("armv7"), "arm-linux-gnueabihf", "qemu-arm", "cortex-a7", "bx lr", true},
    {"aarch64", triple_of("aarch64"), "aarch64-linux-gnu", "qemu-aarch64", "cortex-a72", "ret", true},
    {"riscv64", triple_of("riscv64"), "riscv64-linux-gnu", "qemu-riscv64", "rv64,v=true", "ret", false},
};

}  // namespace

const TestArchitecture& architecture_named(const std::string& name) {
  for (const TestArchitecture& architecture : kArchitectures)
    if (name == architecture.name) return architecture;
  throw std::invalid_argument("tests know no architecture '" + name + "'");
}

std::string another_architecture(const std::string& than) {
  constexpr std::size_t kCount = std::size(kArchitectures);
  const std::string one = kArchitectures[kCount - 1].name;
  return than == one ? kArchitectures[kCount - 2].name : one;
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
