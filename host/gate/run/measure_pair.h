// Measures the two modules of a case in turns in a fresh process: what disturbs a machine meanwhile, such as a program
// on the other thread of a core, disturbs both.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>

#include "ferry/bench/comparison.h"
#include "ferry/bench/sampling.h"
#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "host/compiler/api/compiler.h"
#include "host/gate/api/report.h"
#include "host/gate/run/side_failed.h"
#include "host/gate/run/side_module.h"
#include "host/stats/random.h"

namespace ferry::gate {

struct MeasuredCase;

struct MeasuredPair {
  Pair pair;
  Environment environment;
  std::vector<std::string> warnings;
};

// Measures both sides in turns in one process. `current_first` says which of them is loaded and called first; where
// both have their tensors is drawn. Throws SideFailed, and Error as measure_process().
MeasuredPair measure_pair(const OpenSession& open, const MeasuredCase& measured, const std::array<SideModule, 2>& sides,
                          std::uint32_t layout, bool current_first, stats::Random& random, const Observer& observer);

// measure_pair(), but for tests.
using MeasurePair = std::function<MeasuredPair(const OpenSession& open, const MeasuredCase& measured,
                                               const std::array<SideModule, 2>& sides, std::uint32_t layout,
                                               bool current_first, stats::Random& random, const Observer& observer)>;

// The settings that all processes of a case have in common.
struct MeasuredCase {
  const Compiler& compiler;
  std::vector<std::string> devices;  // besides the CPU
  bench::SamplingOptions sampling;
  MeasurePair measure = measure_pair;
};

// One or two modules that were measured in turns in a process of their own.
struct Process {
  std::vector<Timing> timings;  // in the order of the modules
  Environment environment;
  std::vector<std::string> warnings;  // about the board
};

// Measures the modules in turns, with the code of all in this layout and with the same tensors if their calls have the
// same arguments. Throws Error for what the device refuses, if the session is lost, and if a kernel fails, which
// is_failure_of_kernel() recognises: then `crashed` is the number of the module in whose code the process crashed, if
// that is known.
Process measure_process(const OpenSession& open, const MeasuredCase& measured, std::span<const SideModule* const> sides,
                        std::uint32_t layout, const bench::MemoryLayout& memory, const Observer& observer,
                        std::optional<std::size_t>* crashed = nullptr);

// `governor` is empty if the board has none, or before a measurement has told.
Environment environment_of(const Device& device, const std::string& governor);

// Throws Error (unavailable) if they differ: times of one are not comparable with those of the other.
void expect_same_environment(const Environment& before, const Environment& after);

}  // namespace ferry::gate
