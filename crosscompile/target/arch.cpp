#include "crosscompile/target/arch_info.h"

namespace ferry {
namespace {

constexpr ArchInfo kOtherCpu{.arch = Arch::other_cpu, .name = ""};

// One row for each architecture that has a name of its own.
constexpr ArchInfo kArchs[] = {
    {.arch = Arch::x86_64, .name = "x86_64", .baseline_cpu = "x86-64"},
    // Without SSE2, float results would be those of long double.
    {.arch = Arch::i386, .name = "i386", .baseline_cpu = "pentium4"},
    {.arch = Arch::armv7, .name = "armv7"},
    {.arch = Arch::arm, .name = "arm"},
    {.arch = Arch::aarch64, .name = "aarch64"},
    {.arch = Arch::riscv64, .name = "riscv64", .baseline_cpu = "generic-rv64"},
    {.arch = Arch::riscv32, .name = "riscv32", .baseline_cpu = "generic-rv32"},
    {.arch = Arch::wasm32, .name = "wasm32"},
    {.arch = Arch::wasm64, .name = "wasm64"},
    {.arch = Arch::c, .name = "c"},
    {.arch = Arch::cuda, .name = "cuda"},
    {.arch = Arch::opencl, .name = "opencl"},
};

}  // namespace

Arch arch_named(std::string_view name) {
  for (const ArchInfo& info : kArchs)
    if (info.name == name) return info.arch;
  return Arch::other_cpu;
}

const ArchInfo& info_of(Arch arch) {
  for (const ArchInfo& info : kArchs)
    if (info.arch == arch) return info;
  return kOtherCpu;
}

}  // namespace ferry
