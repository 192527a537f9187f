#include "ferry/target/arch.h"

namespace ferry {
namespace {

struct NamedArch {
  std::string_view name;
  Arch arch;
};
constexpr NamedArch kNames[] = {
    {"x86_64", Arch::x86_64},   {"i386", Arch::i386},
    {"armv7", Arch::armv7},     {"arm", Arch::arm},
    {"aarch64", Arch::aarch64}, {"riscv64", Arch::riscv64},
    {"riscv32", Arch::riscv32}, {"wasm32", Arch::wasm32},
    {"wasm64", Arch::wasm64},   {"c", Arch::c},
    {"cuda", Arch::cuda},       {"opencl", Arch::opencl},
};

}  // namespace

Arch arch_named(std::string_view name) {
  for (const NamedArch& named : kNames)
    if (named.name == name) return named.arch;
  return Arch::other_cpu;
}

bool is_gpu(Arch arch) { return arch == Arch::cuda || arch == Arch::opencl; }

}  // namespace ferry
