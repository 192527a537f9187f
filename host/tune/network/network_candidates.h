// Records of kernels with other algorithms than the compiler has chosen for them, which compete with their schedules.
#pragma once

#include "host/compiler/api/compiler.h"
#include "host/tune/network/confirm_in_network.h"
#include "host/tune/records/tune_record.h"

#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

// A kernel by itself, with the algorithm that the compiler has chosen and the default schedule.
struct KernelDefault {
  TaskKey key;
  std::string function;
  Hash code{};
};

// Returns the record of a task with another algorithm as one of the kernel. `share` is its time over that of the
// kernel's default. Its code is that of the task by itself until with_code().
TuneRecord algorithm_record(TuneRecord record, const std::string& algorithm, const KernelDefault& by_default,
                            double share);

// Returns such a record with the code of the task's program under the kernel's name. Compiles it.
TuneRecord with_code(TuneRecord record, const lang::Program& program, const Compiler& compiler, const Target& target);

// Returns the best of the algorithms that the same build of ferry confirmed in this place; nothing if none was faster.
std::optional<TuneRecord> recorded_algorithm(const std::string& file, const KernelDefault& by_default,
                                             const NetworkProgram& kernel, const std::string& version,
                                             const Place& place);

// Puts the fastest first, but for the best of each algorithm, which come before all others.
KernelCandidates in_order(std::size_t kernel, std::vector<TuneRecord> records);

}  // namespace ferry::tune
