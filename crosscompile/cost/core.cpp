#include "crosscompile/cost/core.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ferry::cost {

namespace {

// In the order of Instruction.
struct Prices {
  std::array<double, kInstructions> cycles, latencies;
};

struct CoreRow {
  Arch arch;
  std::uint32_t vector_bits;  // rows with more are passed by
  std::string_view names;     // as LLVM has them, between spaces
  std::string_view model;     // as Core::scheduling_model
  double width, window, call_cycles, split_load;
  bool shuffles_on_vector_unit;
  Prices prices;
  // The first and the second level: sizes where the target has none, lines in a row, lone lines.
  std::array<CacheLevel, 2> caches;
};

// load, broadcast_load, scalar_load, store, fma, mul, add, min_max, div, sqrt, int_add, int_mul, convert, shuffle,
// scalar_int
constexpr Prices kZen5 = {{0.5, 0.5, 0.5, 1, 0.5, 0.5, 0.5, 0.5, 5, 6, 0.25, 0.5, 0.5, 0.5, 0.25},
                          {7, 7, 4, 1, 4, 3, 3, 2, 13, 21, 1, 3, 3, 3, 1}};
constexpr Prices kZen4 = {{1, 1, 0.5, 2, 1, 1, 1, 1, 6, 10, 0.5, 1, 1, 1, 0.25},
                          {7, 7, 4, 1, 4, 3, 3, 2, 13, 21, 1, 3, 3, 4, 1}};
constexpr Prices kSkylakeX = {{0.5, 0.5, 0.5, 1, 0.5, 0.5, 0.5, 0.5, 10, 12, 0.5, 1, 0.5, 1, 0.25},
                              {7, 7, 5, 1, 4, 4, 4, 4, 18, 20, 1, 10, 4, 3, 1}};
constexpr Prices kZen3 = {{0.5, 0.5, 0.33, 1, 0.5, 0.5, 0.5, 0.5, 5, 6, 0.25, 0.5, 0.5, 0.5, 0.25},
                          {7, 7, 4, 1, 4, 3, 3, 1, 13, 18, 1, 3, 3, 3, 1}};
constexpr Prices kHaswell = {{0.5, 0.5, 0.5, 1, 0.5, 0.5, 1, 1, 10, 12, 0.5, 1, 1, 1, 0.25},
                             {7, 7, 5, 1, 5, 5, 3, 3, 18, 20, 1, 10, 3, 3, 1}};
constexpr Prices kA53 = {{2, 2, 1, 1, 1, 1, 1, 1, 22, 22, 1, 1, 1, 1, 0.5},
                         {5, 6, 4, 1, 8, 4, 4, 4, 22, 22, 3, 4, 4, 4, 1}};
constexpr Prices kA55 = {{2, 2, 1, 2, 1, 1, 1, 1, 20, 18, 1, 1, 1, 1, 0.5},
                         {4, 5, 3, 1, 4, 4, 4, 4, 22, 22, 3, 4, 4, 4, 1}};
constexpr Prices kA7 = {{2, 2, 1, 2, 4, 4, 4, 2, 60, 60, 2, 2, 4, 2, 0.5},
                        {4, 5, 3, 1, 8, 4, 4, 3, 60, 60, 3, 4, 4, 4, 1}};
constexpr Prices kA72 = {{1, 1, 1, 2, 1, 1, 1, 1, 34, 34, 0.5, 2, 1, 0.75, 0.5},
                         {5, 8, 5, 2, 7, 4, 4, 4, 34, 34, 3, 5, 4, 3, 1}};
constexpr Prices kA76 = {{0.5, 0.5, 0.5, 1, 0.5, 0.5, 0.5, 0.5, 7, 7, 0.5, 2, 1, 0.5, 0.33},
                         {5, 7, 5, 2, 4, 3, 2, 2, 10, 10, 2, 5, 4, 2, 1}};
constexpr Prices kV1 = {{0.33, 0.33, 0.33, 0.5, 0.25, 0.25, 0.25, 0.25, 3.5, 3.5, 0.25, 0.5, 1, 0.25, 0.2},
                        {6, 8, 6, 2, 4, 3, 2, 2, 10, 10, 2, 4, 4, 2, 1}};
constexpr Prices kP670 = {{1, 1, 0.5, 1, 0.5, 0.5, 0.5, 0.5, 20, 20, 0.5, 0.5, 0.5, 1, 0.25},
                          {8, 8, 5, 2, 6, 6, 6, 2, 25, 25, 1, 6, 3, 3, 1}};
constexpr Prices kInOrderRvv = {{1, 1, 1, 1, 1, 1, 1, 1, 20, 20, 1, 1, 1, 4, 0.5},
                                {4, 4, 3, 1, 6, 6, 6, 4, 25, 25, 4, 4, 6, 8, 1}};
constexpr Prices kU74 = {{1, 1, 1, 1, 1, 1, 1, 1, 26, 26, 1, 1, 1, 1, 0.5},
                         {2, 2, 2, 1, 5, 5, 5, 3, 27, 27, 1, 3, 4, 3, 1}};

constexpr double kKilo = 1024;
// Branch predictors know the end of shorter loops.
constexpr double kPredictedExtent = 32, kPredictedCost = 0.3;

// Cores that run programs of both of ARM's architectures.
constexpr CoreRow cortex_a72(Arch arch, std::string_view names, std::string_view model) {
  return {arch, 0, names, model, 3, 128, 14, 1.25, true, kA72, {{{32 * kKilo, 4, 12}, {1024 * kKilo, 14, 60}}}};
}
constexpr CoreRow cortex_a53(Arch arch, std::string_view names) {
  return {arch, 0, names, "", 2, 0, 10, 1.5, true, kA53, {{{32 * kKilo, 6, 15}, {512 * kKilo, 20, 90}}}};
}

// For CPUs that no row names, the first of their architecture counts.
constexpr CoreRow kCores[] = {
    {Arch::x86_64,
     512,
     " x86-64-v4 znver5 ",
     // LLVM 19 has none of Zen 5, and that of Zen 4 computes 512 bits in two halves. Skylake's takes as many vectors a
     // cycle.
     "skylake-avx512",
     8,
     448,
     12,
     2,
     false,
     kZen5,
     {{{48 * kKilo, 1.6, 3}, {1024 * kKilo, 2.2, 8}}}},
    {Arch::x86_64,
     512,
     " znver4 ",
     "znver4",
     6,
     320,
     12,
     1,
     false,
     kZen4,
     {{{32 * kKilo, 2, 6}, {1024 * kKilo, 5, 14}}}},
    {Arch::x86_64,
     512,
     " skylake-avx512 cascadelake cooperlake cannonlake icelake-client icelake-server tigerlake rocketlake "
     "sapphirerapids emeraldrapids graniterapids graniterapids-d ",
     "skylake-avx512",
     4,
     300,
     12,
     2,
     false,
     kSkylakeX,
     {{{32 * kKilo, 2, 6}, {1024 * kKilo, 6, 20}}}},
    {Arch::x86_64,
     0,
     " znver1 znver2 znver3 x86-64-v3 ",
     "znver3",
     6,
     256,
     12,
     1.5,
     false,
     kZen3,
     {{{32 * kKilo, 2, 6}, {512 * kKilo, 4, 14}}}},
    {Arch::x86_64,
     0,
     " haswell broadwell skylake core-avx2 alderlake raptorlake meteorlake x86-64 x86-64-v2 ",
     "haswell",
     4,
     200,
     14,
     1.5,
     false,
     kHaswell,
     {{{32 * kKilo, 2, 6}, {256 * kKilo, 5, 16}}}},
    cortex_a72(Arch::aarch64, " cortex-a72 cortex-a57 cortex-a73 cortex-a75 generic ", "cortex-a72"),
    cortex_a53(Arch::aarch64, " cortex-a53 cortex-a35 "),
    {Arch::aarch64,
     0,
     " cortex-a55 cortex-a510 cortex-a520 ",
     "",
     2,
     0,
     10,
     1.5,
     true,
     kA55,
     {{{32 * kKilo, 4, 10}, {256 * kKilo, 16, 70}}}},
    {Arch::aarch64,
     0,
     " cortex-a76 cortex-a77 cortex-a78 neoverse-n1 ",
     "neoverse-n1",
     4,
     128,
     12,
     1.25,
     true,
     kA76,
     {{{64 * kKilo, 3, 9}, {512 * kKilo, 8, 40}}}},
    {Arch::aarch64,
     0,
     " neoverse-v1 neoverse-v2 neoverse-n2 cortex-x1 cortex-x2 cortex-x3 apple-m1 apple-m2 apple-m3 ",
     "neoverse-v1",
     8,
     256,
     11,
     1.25,
     true,
     kV1,
     {{{64 * kKilo, 2, 8}, {1024 * kKilo, 6, 30}}}},
    // LLVM has the model of Cortex-A57 for 32 bits under that name alone.
    cortex_a72(Arch::armv7, " cortex-a72 cortex-a57 cortex-a15 generic ", "cortex-a57"),
    cortex_a53(Arch::armv7, " cortex-a53 "),
    {Arch::armv7,
     0,
     " cortex-a7 cortex-a5 cortex-a8 cortex-a9 ",
     "",
     2,
     0,
     10,
     1.5,
     true,
     kA7,
     {{{32 * kKilo, 8, 20}, {512 * kKilo, 25, 100}}}},
    {Arch::riscv64,
     0,
     " sifive-u74 generic-rv64 ",
     "",
     2,
     0,
     8,
     1,
     true,
     kU74,
     {{{32 * kKilo, 5, 20}, {2048 * kKilo, 20, 80}}}},
    {Arch::riscv64,
     0,
     " sifive-p670 ",
     "sifive-p670",
     4,
     250,
     12,
     1.25,
     false,
     kP670,
     {{{32 * kKilo, 3, 9}, {512 * kKilo, 8, 40}}}},
    {Arch::riscv64,
     0,
     " spacemit-x60 sifive-x280 ",
     "",
     2,
     0,
     8,
     1.25,
     true,
     kInOrderRvv,
     {{{32 * kKilo, 5, 20}, {512 * kKilo, 20, 80}}}},
};

const CoreRow& row_of(const Target& target) {
  const CoreRow* first = nullptr;
  for (const CoreRow& row : kCores) {
    if (row.arch != target.arch || row.vector_bits > target.vector_bits) continue;
    if (row.names.find(" " + target.cpu + " ") != std::string_view::npos) return row;
    if (first == nullptr) first = &row;
  }
  return first == nullptr ? *std::begin(kCores) : *first;
}

}  // namespace

Unit Core::unit(Instruction instruction) const {
  switch (instruction) {
    case Instruction::load:
    case Instruction::broadcast_load:
    case Instruction::scalar_load: return Unit::load;
    case Instruction::store: return Unit::store;
    case Instruction::fma:
    case Instruction::mul:
    case Instruction::add:
    case Instruction::min_max:
    case Instruction::div:
    case Instruction::sqrt:
    case Instruction::int_add:
    case Instruction::int_mul:
    case Instruction::convert: return Unit::vector;
    case Instruction::shuffle: return shuffles_on_vector_unit ? Unit::vector : Unit::shuffle;
    case Instruction::scalar_int: break;
  }
  return Unit::scalar;
}

double Core::loop_cycles(double extent) const {
  return call_cycles * (window > 0 && extent <= kPredictedExtent ? kPredictedCost : 1);
}

Core core_of(const Target& target) {
  const CoreRow& row = row_of(target);
  Core core{.name = std::string(row.names.substr(1, row.names.find(' ', 1) - 1)),
            .width = row.width,
            .window = row.window,
            .call_cycles = row.call_cycles,
            .split_load = row.split_load,
            .prices = {},
            .scheduling_model = std::string(row.model),
            .shuffles_on_vector_unit = row.shuffles_on_vector_unit,
            .caches = row.caches};
  for (std::size_t i = 0; i < kInstructions; ++i) core.prices[i] = {row.prices.cycles[i], row.prices.latencies[i]};
  if (target.l1_bytes != 0) core.caches[0].bytes = static_cast<double>(target.l1_bytes);
  if (target.l2_bytes != 0) core.caches[1].bytes = static_cast<double>(target.l2_bytes);
  return core;
}

}  // namespace ferry::cost
