#include "crosscompile/target/abi.h"
#include "crosscompile/target/resolve.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ferry;

namespace {

using Flag = bool Capabilities::*;

struct NamedFlag {
  const char* name;
  Flag flag;
};
using Can = Capabilities;
constexpr NamedFlag kFlags[] = {
    {"f16_conversion", &Can::f16_conversion},
    {"bf16_conversion", &Can::bf16_conversion},
    {"f16_arithmetic", &Can::f16_arithmetic},
    {"f16_conversion_by_four", &Can::f16_conversion_by_four},
    {"fma", &Can::fma},
    {"rounding", &Can::rounding},
    {"scale", &Can::scale},
    {"float_min_max", &Can::float_min_max},
    {"nan_min_max", &Can::nan_min_max},
    {"nan_min_max_f32_vectors", &Can::nan_min_max_f32_vectors},
    {"masks", &Can::masks},
    {"gathers", &Can::gathers},
    {"nontemporal_stores", &Can::nontemporal_stores},
    {"row_prefetch", &Can::row_prefetch},
    {"vnni_512", &Can::vnni_512},
    {"vnni_256", &Can::vnni_256},
    {"int16_dot_512", &Can::int16_dot_512},
    {"int16_dot_256", &Can::int16_dot_256},
    {"int16_dot_128", &Can::int16_dot_128},
    {"bf16_dot_512", &Can::bf16_dot_512},
    {"bf16_dot_256", &Can::bf16_dot_256},
    {"amx_int8", &Can::amx_int8},
    {"amx_bf16", &Can::amx_bf16},
    {"neon_dot", &Can::neon_dot},
    {"neon_mixed_dot", &Can::neon_mixed_dot},
    {"neon_dot_32bit", &Can::neon_dot_32bit},
    {"neon_round_even_32bit", &Can::neon_round_even_32bit},
    {"clamped_conversions", &Can::clamped_conversions},
    {"rounds_int64_twice", &Can::rounds_int64_twice},
    {"math_library", &Can::math_library},
    {"shuffles", &Can::shuffles},
    {"async_copies", &Can::async_copies},
    {"tensor_cores", &Can::tensor_cores},
};
// The list leaves out neon_pairs, neon_pairs_32bit, and what LLVM must be told of one architecture alone
// (asks_for_vector_width, contracts_by_option, round_even_by_lane, rounds_halves_as_floats). scheduling_cpu stands
// before the last four flags, and block_z behind them.
constexpr std::size_t kAllFlags = std::size(kFlags) + 6, kLastFlags = 4;
constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 7) / 8 * 8; }
static_assert(sizeof(Capabilities) ==
                  aligned(kAllFlags - kLastFlags) + sizeof(const char*) + aligned(kLastFlags) + sizeof(std::int64_t),
              "a flag is missing in the list above");

std::string listed(const Capabilities& can) {
  std::string text;
  for (const auto& [name, flag] : kFlags)
    if (can.*flag) text += std::string(text.empty() ? "" : " ") + name;
  return text;
}

}  // namespace

TEST_CASE("the features of a target decide what its instructions can do") {
  struct Case {
    const char* text;
    const char* can;
  };
  const Case cases[] = {
      {"x86-64", "float_min_max nontemporal_stores row_prefetch int16_dot_128 clamped_conversions"},
      {"x86-64-v2", "rounding float_min_max nontemporal_stores row_prefetch int16_dot_128 clamped_conversions"},
      {"x86-64-v3",
       "f16_conversion fma rounding float_min_max gathers nontemporal_stores row_prefetch int16_dot_256 int16_dot_128 "
       "clamped_conversions"},
      {"x86-64-v3 -mattr=+avxvnni",
       "f16_conversion fma rounding float_min_max gathers nontemporal_stores row_prefetch vnni_256 "
       "int16_dot_256 int16_dot_128 clamped_conversions"},
      {"x86-64-v4",
       "f16_conversion fma rounding scale float_min_max masks gathers nontemporal_stores row_prefetch "
       "int16_dot_512 int16_dot_256 int16_dot_128 clamped_conversions"},
      {"x86-64-v4 -mattr=+avx512vnni,+avx512bf16,+avx512fp16",
       "f16_conversion f16_arithmetic fma rounding scale float_min_max masks gathers nontemporal_stores row_prefetch "
       "vnni_512 vnni_256 int16_dot_512 int16_dot_256 int16_dot_128 bf16_dot_512 bf16_dot_256 clamped_conversions"},
      {"x86-64-v4 -mattr=+amx-tile,+amx-int8",
       "f16_conversion fma rounding scale float_min_max masks gathers nontemporal_stores row_prefetch "
       "int16_dot_512 int16_dot_256 int16_dot_128 amx_int8 clamped_conversions"},
      {"llvm -mtriple=x86_64-linux-gnu -mattr=+avx512vnni",
       "f16_conversion fma rounding float_min_max gathers nontemporal_stores row_prefetch vnni_512 "
       "int16_dot_256 int16_dot_128 clamped_conversions"},
      {"llvm -mtriple=i386-linux-gnu -mattr=+avx2", "rounding float_min_max gathers"},
      {"armv7", "f16_conversion_by_four nan_min_max_f32_vectors clamped_conversions"},
      {"armv7 -mattr=+vfp4,+fp16",
       "f16_conversion f16_conversion_by_four fma nan_min_max_f32_vectors clamped_conversions"},
      {"armv7 -mattr=+fp-armv8,+dotprod",
       "f16_conversion f16_conversion_by_four fma rounding nan_min_max_f32_vectors neon_dot_32bit clamped_conversions"},
      {"armv7 -mattr=+fp-armv8,-neon", "f16_conversion fma rounding clamped_conversions"},
      {"raspberry-pi-4-32bit",
       "f16_conversion f16_conversion_by_four fma rounding nan_min_max_f32_vectors neon_round_even_32bit "
       "clamped_conversions"},
      {"llvm -mtriple=armv6k-linux-gnueabi", "rounding"},
      {"aarch64", "f16_conversion fma rounding float_min_max nan_min_max nan_min_max_f32_vectors rounds_int64_twice"},
      {"aarch64 -mattr=+fullfp16,+dotprod,+i8mm",
       "f16_conversion f16_arithmetic fma rounding float_min_max nan_min_max nan_min_max_f32_vectors neon_dot "
       "neon_mixed_dot rounds_int64_twice"},
      {"riscv64", "fma rounding float_min_max"},
      {"riscv64-v", "fma rounding float_min_max masks"},
      {"riscv64 -mattr=+zfhmin", "f16_conversion fma rounding float_min_max"},
      {"riscv64-v -mattr=+zfh", "fma rounding float_min_max masks"},
      {"riscv64-v -mattr=+zfh,+zvfh", "f16_conversion f16_arithmetic fma rounding float_min_max masks"},
      {"llvm -mtriple=riscv32-unknown-elf", "rounding float_min_max"},
      {"llvm -mtriple=wasm32-unknown-unknown", "rounding float_min_max"},
      {"c", "f16_conversion bf16_conversion rounding float_min_max math_library"},
      {"opencl", "f16_conversion bf16_conversion rounding float_min_max math_library"},
      {"cuda -arch=sm_75", "f16_conversion bf16_conversion fma rounding float_min_max math_library shuffles"},
      {"cuda -arch=sm_90,sm_75", "f16_conversion bf16_conversion fma rounding float_min_max math_library shuffles"},
      {"cuda -arch=sm_80",
       "f16_conversion bf16_conversion fma rounding float_min_max math_library shuffles async_copies tensor_cores"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    CHECK(listed(resolve_target(c.text).capabilities) == c.can);
  }
  CHECK(resolve_target("cuda").capabilities.block_z == 64);
  CHECK(resolve_target("opencl").capabilities.block_z == 0);
  for (const char* text : {"armv7", "raspberry-pi-4-32bit"}) {
    CHECK(resolve_target(text).capabilities.round_even_by_lane);
    CHECK_FALSE(resolve_target(text).capabilities.rounds_halves_as_floats);
    CHECK(std::string(resolve_target(text).capabilities.scheduling_cpu) == "cortex-a7");
  }
  CHECK(resolve_target("armv7 -mattr=+v8,+fullfp16").capabilities.rounds_halves_as_floats);
  for (const char* text : {"aarch64 -mattr=+fullfp16", "x86-64-v4", "riscv64"}) {
    CHECK_FALSE(resolve_target(text).capabilities.round_even_by_lane);
    CHECK_FALSE(resolve_target(text).capabilities.rounds_halves_as_floats);
    CHECK(resolve_target(text).capabilities.scheduling_cpu == nullptr);
  }
}

TEST_CASE("each architecture's name is parsed to the architecture alone") {
  struct Case {
    const char* text;
    Arch arch;
    const char* name;
  };
  const Case cases[] = {
      {"x86-64", Arch::x86_64, "x86_64"},
      {"x86_64-apple-darwin", Arch::x86_64, "x86_64"},
      {"llvm -mtriple=i386-linux-gnu", Arch::i386, "i386"},
      {"armv7", Arch::armv7, "armv7"},
      {"llvm -mtriple=armv6k-linux-gnueabi", Arch::arm, "arm"},
      {"aarch64", Arch::aarch64, "aarch64"},
      {"riscv64", Arch::riscv64, "riscv64"},
      {"llvm -mtriple=riscv32-unknown-elf", Arch::riscv32, "riscv32"},
      {"wasm32-unknown-unknown", Arch::wasm32, "wasm32"},
      {"wasm64-unknown-unknown", Arch::wasm64, "wasm64"},
      {"c", Arch::c, "c"},
      {"cuda", Arch::cuda, "cuda"},
      {"opencl:1", Arch::opencl, "opencl"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    const Target target = resolve_target(c.text);
    CHECK(target.arch == c.arch);
    CHECK(target.arch_name == c.name);
    CHECK(target.has_thread_blocks() == (c.arch == Arch::cuda || c.arch == Arch::opencl));
  }
  CHECK(arch_named("sparcv9") == Arch::other_cpu);
}

TEST_CASE("the conventions of binaries depend on the architecture") {
  struct Case {
    const char* text;
    const char* convention;
    std::uint32_t page_bytes;
    const char* float_abi;
    bool sign_extends, has_helpers;
  };
  const Case cases[] = {
      {"x86-64", "", 4096, "", false, false},
      {"armv7", "", 65536, "hard", false, true},
      {"llvm -mtriple=armv6k-linux-gnueabi", "", 4096, "", false, false},
      {"aarch64", "", 65536, "", false, false},
      {"riscv64", "lp64d", 4096, "", true, false},
      {"llvm -mtriple=riscv32-unknown-elf", "ilp32d", 4096, "", false, false},
      {"llvm -mtriple=riscv32-unknown-elf -mattr=-d", "ilp32", 4096, "", false, false},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.text));
    const Abi abi = abi_of(resolve_target(c.text));
    CHECK(abi.calling_convention == std::string(c.convention));
    CHECK(abi.page_bytes == c.page_bytes);
    CHECK(abi.float_abi == std::string(c.float_abi));
    CHECK(abi.sign_extends_32_bits == c.sign_extends);
    CHECK(abi.has_unwind_helpers == c.has_helpers);
  }
}
