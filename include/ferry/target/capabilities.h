// A typed table of the capabilities of a target's instructions. Passes, schedules and code generators ask its fields;
// only capabilities.cpp derives them from architectures and features.
#pragma once

#include <cstdint>

namespace ferry {

struct Target;

struct Capabilities {
  // Conversions between a narrow float and f32, and arithmetic on f16, for scalars and vectors alike. No machine code
  // converts bf16: widening is a shift, and x86's rounding instruction flushes subnormals.
  bool f16_conversion = false, bf16_conversion = false;
  bool f16_arithmetic = false;
  // Vectors of f16 are converted by instructions for exactly four of them, which LLVM does not find by itself.
  bool f16_conversion_by_four = false;
  // A fused multiply-add, for scalars and vectors alike.
  bool fma = false;
  // floor, ceil, round, round_even and trunc, for vectors too.
  bool rounding = false;
  // A multiplication by a power of two (CallOp::scale of crosscompile/ir/callee.h), for any number of lanes.
  bool scale = false;
  // fmin and fmax of C; without them a compiler calls the library's.
  bool float_min_max = false;
  // min and max that propagate NaN, for all floats, and for vectors of f32 at least.
  bool nan_min_max = false;
  bool nan_min_max_f32_vectors = false;

  // Vector loads and stores with a mask cost nothing extra.
  bool masks = false;
  // Loads of each lane of a vector of 32-bit or 64-bit elements from an address of its own.
  bool gathers = false;
  // Vector stores that bypass the caches and need a fence after them.
  bool nontemporal_stores = false;
  // Prefetching rows by instructions gains time over the hardware's prefetchers (host/autoschedule/read_ahead.h).
  bool row_prefetch = false;

  // Sums of products of narrow numbers (crosscompile/passes/tensorize/dot_instructions.h): on x86 by the width in bits
  // of the vectors, on ARM by the type of the numbers.
  bool vnni_512 = false, vnni_256 = false;
  bool int16_dot_512 = false, int16_dot_256 = false, int16_dot_128 = false;
  bool bf16_dot_512 = false, bf16_dot_256 = false;
  // Products of tiles of bytes, and of bfloat16, by AMX (crosscompile/passes/tensorize/tile_dot.h).
  bool amx_int8 = false, amx_bf16 = false;
  bool neon_dot = false, neon_mixed_dot = false;
  bool neon_dot_32bit = false;  // as instructions of 32-bit ARM
  // Products of bytes, and sums of two neighbours of them: in two instructions, which every NEON has.
  bool neon_pairs = false, neon_pairs_32bit = false;
  // Instructions of 32-bit ARM round vectors of f32 with halves to the even integer.
  bool neon_round_even_32bit = false;

  // What LLVM must be told:
  // It splits vectors of the full width into halves on CPUs whose clock it expects to drop, unless functions ask for
  // the width.
  bool asks_for_vector_width = false;
  // Its vector code ignores the flag on single operations that allows contraction, which all emitted operations carry.
  bool contracts_by_option = false;
  // It converts each lane of a vector of floats to an integer on its own, because no instruction for vectors saturates
  // or it does not know of one, unless the code clamps the vector first.
  bool clamped_conversions = false;
  // It converts vectors of 64-bit integers to f32 by way of f64, which rounds twice.
  bool rounds_int64_twice = false;
  // It selects no instruction that rounds vectors to the even integer.
  bool round_even_by_lane = false;
  // It does not select all operations that round halves, which are emitted on floats instead
  // (crosscompile/codegen/llvm/target/half_rounding.h).
  bool rounds_halves_as_floats = false;
  // The CPU in whose order it is to put instructions, whatever the target's is; null: that of the target.
  const char* scheduling_cpu = nullptr;

  // The compiler of the generated text, or a library linked into the code, has all functions of math.def.
  bool math_library = false;

  // GPUs only:
  bool shuffles = false;      // threads of a warp read each other's registers
  bool async_copies = false;  // from global to shared memory, while the threads compute
  bool tensor_cores = false;  // products of small matrices by a warp (crosscompile/passes/tensorize/tensor_core.h)
  std::int64_t block_z = 0;   // maximum extent of threadIdx.z; 0: only the number of all threads is limited
};

// Reads the target's arch, features, gpus and is_source.
Capabilities capabilities_of(const Target& target);

}  // namespace ferry
