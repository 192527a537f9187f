// Measures a pair of processes: one that runs the baseline's module and one that runs the current module.
#pragma once

#include <array>

#include "ferry/bench/comparison.h"
#include "ferry/bench/sampling.h"
#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "host/compiler/api/compiler.h"
#include "host/gate/api/report.h"
#include "host/gate/run/side_module.h"
#include "host/stats/random.h"

namespace ferry::gate {

// What all processes of a case have in common.
struct MeasuredCase {
  const Compiler& compiler;
  std::vector<std::string> devices;  // besides the CPU
  bench::SamplingOptions sampling;
};

struct Process {
  Timing timing;
  Environment environment;
  std::vector<std::string> warnings;  // about the board
};

// Runs one module in a process of its own, with its code in this layout. Throws KernelFailed if the kernel fails, and
// Error for what the device refuses or if the session is lost.
Process measure_process(const OpenSession& open, const MeasuredCase& measured, const SideModule& side,
                        std::uint32_t layout, const bench::MemoryLayout& memory, const Observer& observer);

// Whether the kernel itself crashed or ran too long.
bool is_failure_of_kernel(const Error& error);

// The kernel of one of the sides fails.
class SideFailed : public Error {
 public:
  SideFailed(bool is_baseline, const std::string& message)
      : Error(ErrorCode::kernel_crashed, message), is_baseline_(is_baseline) {}
  bool is_baseline() const { return is_baseline_; }

 private:
  bool is_baseline_;
};

struct MeasuredPair {
  Pair pair;
  std::array<Process, 2> processes;  // baseline, current
};

// Draws where both sides have their tensors. Throws SideFailed, and Error as above.
MeasuredPair measure_pair(const OpenSession& open, const MeasuredCase& measured, const std::array<SideModule, 2>& sides,
                          std::uint32_t layout, bool current_first, stats::Random& random, const Observer& observer);

}  // namespace ferry::gate
