#include "crosscompile/target/abi.h"

namespace ferry {

Abi abi_of(const Target& target) {
  constexpr std::uint32_t kLargePage = 65536;
  Abi abi;
  switch (target.arch) {
    case Arch::armv7:
      abi.hard_float_option = abi.has_unwind_helpers = true;
      abi.page_bytes = kLargePage;
      break;
    case Arch::aarch64: abi.page_bytes = kLargePage; break;
    case Arch::riscv64:
      abi.calling_convention = "lp64d";
      abi.sign_extends_32_bits = true;
      break;
    case Arch::riscv32: abi.calling_convention = target.has("d") ? "ilp32d" : "ilp32"; break;
    case Arch::x86_64:
    case Arch::i386:
    case Arch::arm:
    case Arch::wasm32:
    case Arch::wasm64:
    case Arch::other_cpu:
    case Arch::c:
    case Arch::cuda:
    case Arch::opencl: break;
  }
  return abi;
}

}  // namespace ferry
