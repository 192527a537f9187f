#include "crosscompile/target/cpu_properties.h"

#include <string_view>

namespace ferry {
namespace {

struct NamedFamily {
  std::string_view arch;
  CpuFamily family;
};
constexpr NamedFamily kFamilies[] = {
    {"x86_64", CpuFamily::x86},    {"i386", CpuFamily::x86},        {"armv7", CpuFamily::arm},
    {"arm", CpuFamily::arm},       {"aarch64", CpuFamily::aarch64}, {"riscv64", CpuFamily::riscv},
    {"riscv32", CpuFamily::riscv}, {"wasm32", CpuFamily::wasm},     {"wasm64", CpuFamily::wasm}};

}  // namespace

CpuFamily cpu_family(const Target& target) {
  for (const NamedFamily& named : kFamilies)
    if (named.arch == target.arch) return named.family;
  return CpuFamily::other;
}

bool has_gathers(const Target& target) { return cpu_family(target) == CpuFamily::x86 && target.has("avx2"); }

bool has_float_min_max(const Target& target) { return cpu_family(target) != CpuFamily::arm; }

std::string calling_convention(const Target& target) {
  if (cpu_family(target) != CpuFamily::riscv) return {};
  if (target.pointer_bits == 64) return "lp64d";
  return target.has("d") ? "ilp32d" : "ilp32";
}

}  // namespace ferry
