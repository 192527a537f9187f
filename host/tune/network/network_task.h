// The tasks of a network: its kernels, and those with other algorithms that may be as fast. Each is a program by
// itself.
#pragma once

#include "host/compiler/api/compiler.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ferry::tune {

enum class KernelState : std::uint8_t {
  waiting,  // no turn has come to it
  pruned,   // the estimate leaves too little to be gained
  fixed,    // its default schedule has no knobs
  failed,   // it cannot be measured by itself
  tuned,
};

// "pruned".
std::string kernel_state_name(KernelState state);

struct NetworkTask {
  std::size_t kernel = 0;  // index into the network's kernels
  std::string algorithm;   // empty: the one that the compiler has chosen
  std::string name;        // the kernel's with this algorithm
  const lang::Program* program = nullptr;
  double ratio = 1;  // its estimated time over that of the compiler's choice

  KernelState state = KernelState::waiting;
  std::string reason = {};   // why it failed
  std::uint64_t trials = 0;  // in this run
  double default_share = 1;  // its default schedule by itself over that of the compiler's choice, once it was measured
  bool is_measured = false;  // whether it was; of the compiler's choice always
  double best_share = 1;     // the best time by itself over that of its default schedule
  // The best time by itself over that of the compiler's choice with its default schedule.
  double share() const { return default_share * best_share; }
};

// Estimates are trusted so far: an algorithm that seems to take longer than the best by more is no task.
inline constexpr double kMostOverBest = 1.3;

// Returns a task for each kernel, in their order, and then those with other algorithms. The kernels must outlive them.
std::vector<NetworkTask> tasks_of(const std::vector<NetworkProgram>& kernels);

}  // namespace ferry::tune
