// Prices of instructions on a core, from tables of throughputs and latencies.
//
// Throughputs are in cycles for each instruction on a vector of the target's full width. They were read off LLVM 19's
// scheduling models (llvm-mca -instruction-info) where it has a good one; Cortex-A76 has those of Neoverse N1. Written
// by hand are Cortex-A53, A55 and A7, whose models are missing or of no use (docs/boards.md), RISC-V cores other than
// U74 and P670, and Zen 5. What lines of caches cost was fitted for Zen 5 by measured spaces (docs/lab/tuning.md), and
// is a guess for all others: no board was at hand.
#pragma once

#include "ferry/target/target.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ferry::cost {

#define FERRY_COST_INSTRUCTIONS(X)                              \
  X(load)           /* contiguous elements */                   \
  X(broadcast_load) /* one element, to all lanes */             \
  X(scalar_load)                                                \
  X(store)                                                      \
  X(fma)                                                        \
  X(mul)                                                        \
  X(add)                                                        \
  X(min_max) /* also a comparison, a selection */               \
  X(div)                                                        \
  X(sqrt)                                                       \
  X(int_add) /* also bits and shifts */                         \
  X(int_mul)                                                    \
  X(convert)                                                    \
  X(shuffle)    /* also a move between a lane and a register */ \
  X(scalar_int) /* counters, addresses, branches */

enum class Instruction : std::uint8_t {
#define FERRY_ENUM(name) name,
  FERRY_COST_INSTRUCTIONS(FERRY_ENUM)
#undef FERRY_ENUM
};
#define FERRY_COUNT(name) +1
inline constexpr std::size_t kInstructions = 0 FERRY_COST_INSTRUCTIONS(FERRY_COUNT);
#undef FERRY_COUNT

// The units that instructions compete for.
enum class Unit : std::uint8_t { load, store, vector, shuffle, scalar };
inline constexpr std::size_t kUnits = 5;

struct Price {
  double cycles = 1;   // in which its unit is busy
  double latency = 1;  // until another instruction has its result
};

// A cache, or memory.
struct CacheLevel {
  double bytes = 0;
  double line_cycles = 0;       // for a line of 64 bytes from the next level, in a row that is read on
  double lone_line_cycles = 0;  // for one that the prefetchers do not expect
};

struct Core {
  std::string name;
  double width = 4;        // instructions a cycle
  double window = 200;     // instructions that wait for others while later ones run; 0: they run in order
  double call_cycles = 0;  // to enter a loop, mispredicted branches included
  double split_load = 1;   // loads for one of a full vector that is not aligned
  std::array<Price, kInstructions> prices = {};
  // The CPU whose scheduling model in LLVM says how long machine code takes on this core; empty: there is none to
  // trust. Those of Cortex-A53 (10 cycles for a multiply-add) and Cortex-A55 (two multiply-adds of four floats a cycle,
  // where it has one) are wrong for vectors; Cortex-A7 and SpacemiT X60 have none, and SiFive's X280 is for longer
  // vectors. On SiFive's U74, as on others that run in order, llvm-mca lets no load end before an earlier multiply-add:
  // it takes 8 cycles for an iteration of a dot product where the multiply-add's 5 decide.
  std::string scheduling_model;
  bool shuffles_on_vector_unit = false;
  std::array<CacheLevel, 2> caches = {};  // the first and the second level

  // Returns the cycles to enter and leave a loop of so many iterations.
  double loop_cycles(double extent) const;
  const Price& price(Instruction instruction) const { return prices[static_cast<std::size_t>(instruction)]; }
  Unit unit(Instruction instruction) const;
};

// Returns the core that is nearest to the target's CPU. Sizes of caches are the target's, where it has them.
Core core_of(const Target& target);

}  // namespace ferry::cost
