#include "crosscompile/target/abi.h"

namespace ferry {
namespace {

constexpr std::uint32_t kLargePage = 65536;

struct ArchAbi {
  Arch arch;
  Abi abi;
};

// The architectures with conventions to know of.
constexpr ArchAbi kAbis[] = {
    {Arch::armv7, {.mabi = "aapcs", .float_abi = "hard", .has_unwind_helpers = true, .page_bytes = kLargePage}},
    {Arch::aarch64, {.has_outlined_atomics = true, .page_bytes = kLargePage}},
    {Arch::riscv64, {.calling_convention = "lp64d", .mabi = "lp64d", .sign_extends_32_bits = true}},
    {Arch::riscv32, {.calling_convention = "ilp32"}},
};

}  // namespace

Abi abi_of(const Target& target) {
  Abi abi;
  for (const ArchAbi& row : kAbis)
    if (row.arch == target.arch) abi = row.abi;
  if (std::string_view(abi.calling_convention) == "ilp32" && target.has("d")) abi.calling_convention = "ilp32d";
  return abi;
}

}  // namespace ferry
