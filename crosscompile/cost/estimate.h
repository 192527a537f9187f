// The analytic cost model of CPUs: estimates from loops, before any pass and without code generation, how many cycles a
// call of a function takes.
//
// It counts the instructions of each loop's straight-line code (block.h), prices them by a table of the core (core.h),
// and adds what waits for results and for caches (traffic.h). It ranks schedules of one program on one CPU; as a time
// it is only a rough figure.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <cstdint>

namespace ferry::cost {

struct Estimate {
  double cycles = 0;  // on one core
  // Parts of them: what units and chains of results take, and lines from the second level and from beyond.
  double compute_cycles = 0;
  double one_thread_compute_cycles = 0;
  double l2_cycles = 0, memory_cycles = 0;
};

// `function` is as lowered, for a CPU, with its sizes fixed. `threads` run its parallel loops.
Estimate estimate(const ir::Function& function, const Target& target, std::uint32_t threads = 1);
// Returns the estimate with another figure for what one thread computes, such as that of its machine code.
Estimate with_compute_cycles(const Estimate& estimate, double one_thread);

}  // namespace ferry::cost
