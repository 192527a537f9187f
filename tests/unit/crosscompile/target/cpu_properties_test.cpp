#include "crosscompile/target/cpu_properties.h"

#include "crosscompile/target/resolve.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;

TEST_CASE("a CPU is asked for what it has, whatever its architecture is called") {
  struct Case {
    const char* text;
    CpuFamily family;
    bool has_gathers, has_float_min_max;
    const char* convention;
  };
  const Case cases[] = {
      {"llvm -mtriple=x86_64-linux-gnu", CpuFamily::x86, false, true, ""},
      {"llvm -mtriple=x86_64-linux-gnu -mattr=+avx2", CpuFamily::x86, true, true, ""},
      {"llvm -mtriple=i386-linux-gnu -mattr=+avx2", CpuFamily::x86, true, true, ""},
      {"llvm -mtriple=armv7-linux-gnueabihf", CpuFamily::arm, false, false, ""},
      {"llvm -mtriple=armv6k-linux-gnueabi", CpuFamily::arm, false, false, ""},
      {"llvm -mtriple=aarch64-linux-gnu", CpuFamily::aarch64, false, true, ""},
      {"llvm -mtriple=riscv64-linux-gnu", CpuFamily::riscv, false, true, "lp64d"},
      {"llvm -mtriple=riscv32-unknown-elf", CpuFamily::riscv, false, true, "ilp32d"},
      {"llvm -mtriple=riscv32-unknown-elf -mattr=-d", CpuFamily::riscv, false, true, "ilp32"},
      {"llvm -mtriple=wasm32-unknown-unknown", CpuFamily::wasm, false, true, ""},
      {"c", CpuFamily::other, false, true, ""},
      {"cuda", CpuFamily::other, false, true, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    const Target target = resolve_target(c.text);
    CHECK(cpu_family(target) == c.family);
    CHECK(has_gathers(target) == c.has_gathers);
    CHECK(has_float_min_max(target) == c.has_float_min_max);
    CHECK(calling_convention(target) == c.convention);
  }
}
