#include "ferry/target/capabilities.h"

#include "ferry/target/target.h"

namespace ferry {
namespace {

void set_x86(Capabilities& can, const Target& target) {
  can.float_min_max = true;
  can.gathers = target.has("avx2");
  can.masks = target.has("avx512bw") && target.has("avx512vl");
}

void set_x86_64(Capabilities& can, const Target& target) {
  set_x86(can, target);
  const bool short_vectors = target.has("avx512vl");
  can.f16_conversion = target.has("f16c") || target.has("avx512fp16");
  can.f16_arithmetic = target.has("avx512fp16");
  can.fma = target.has("fma");
  can.rounding = target.has("sse4.1");
  can.scale = target.has("avx512f") && short_vectors;
  can.nontemporal_stores = true;
  can.row_prefetch = true;
  can.vnni_512 = target.has("avx512vnni");
  can.vnni_256 = (can.vnni_512 && short_vectors) || target.has("avxvnni");
  can.int16_dot_512 = target.has("avx512bw");
  can.int16_dot_256 = target.has("avx2");
  can.int16_dot_128 = true;
  can.bf16_dot_512 = target.has("avx512bf16");
  can.bf16_dot_256 = can.bf16_dot_512 && short_vectors;
  can.amx_int8 = target.has("amx-tile") && target.has("amx-int8");
  can.amx_bf16 = target.has("amx-tile") && target.has("amx-bf16");
  can.asks_for_vector_width = true;
  can.clamped_conversions = true;
}

void set_arm(Capabilities& can, const Target&) { can.float_min_max = false; }

void set_armv7(Capabilities& can, const Target& target) {
  set_arm(can, target);
  can.f16_conversion = target.has("fp16");
  can.f16_arithmetic = target.has("fullfp16") && target.has("v8");
  can.f16_conversion_by_four = can.nan_min_max_f32_vectors = target.has("neon");
  can.fma = target.has("vfp4");
  can.rounding = target.has("fp-armv8");
  can.neon_dot_32bit = target.has("dotprod");
  can.neon_pairs_32bit = target.has("neon");
  can.neon_round_even_32bit = can.rounding && target.has("neon") && target.has("v8");
  can.contracts_by_option = true;
  can.clamped_conversions = true;
  can.round_even_by_lane = true;
  can.rounds_halves_as_floats = can.f16_arithmetic;
  // The models of later cores that LLVM has for 32 bits hoist so many loads that sums are spilled, and that each fused
  // multiply-add is preceded by a copy of its sum. Code in the order for Cortex-A7 takes little more than half of the
  // instructions, and its features are stated one by one.
  can.scheduling_cpu = "cortex-a7";
}

void set_aarch64(Capabilities& can, const Target& target) {
  can.f16_conversion = true;
  can.f16_arithmetic = target.has("fullfp16");
  can.fma = true;
  can.nan_min_max = can.nan_min_max_f32_vectors = true;
  can.neon_dot = target.has("dotprod");
  can.neon_mixed_dot = target.has("i8mm");
  can.neon_pairs = true;
  can.rounds_int64_twice = true;
}

// Vectors must have the f16 instructions of scalars too: vector code that extracts its lanes is slower than the integer
// sequence.
void set_riscv64(Capabilities& can, const Target& target) {
  const bool vectors = target.has("v"), all_f16 = target.has("zfh"), all_vector_f16 = target.has("zvfh");
  const bool converts = all_f16 || target.has("zfhmin"), converts_vectors = all_vector_f16 || target.has("zvfhmin");
  can.f16_conversion = converts && (converts_vectors || !vectors);
  can.f16_arithmetic = all_f16 && (all_vector_f16 || !vectors);
  can.fma = target.has("f");
  can.masks = vectors;
}

void set_cuda(Capabilities& can, const Target& target) {
  constexpr int kAmpere = 80;
  can.f16_conversion = can.fma = can.shuffles = true;
  can.async_copies = can.tensor_cores = target.capability() >= kAmpere;
  // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
  can.block_z = 64;
}

struct ArchCapabilities {
  Arch arch;
  void (*set)(Capabilities& can, const Target& target);
};

// The architectures that can do something that not every one can, or not all that most can.
constexpr ArchCapabilities kArchCapabilities[] = {
    {Arch::x86_64, set_x86_64},   {Arch::i386, set_x86},        {Arch::armv7, set_armv7}, {Arch::arm, set_arm},
    {Arch::aarch64, set_aarch64}, {Arch::riscv64, set_riscv64}, {Arch::cuda, set_cuda},
};

}  // namespace

Capabilities capabilities_of(const Target& target) {
  Capabilities can;
  can.math_library = can.f16_conversion = can.bf16_conversion = target.is_source;
  can.rounding = can.float_min_max = true;
  for (const ArchCapabilities& row : kArchCapabilities)
    if (row.arch == target.arch) row.set(can, target);
  return can;
}

}  // namespace ferry
