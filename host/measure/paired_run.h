// Measures two kernels in turns in a fresh process: what disturbs a machine meanwhile, such as a program on the other
// thread of a core, disturbs both. `ferry compare` and the gate decide from many such processes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ferry/bench/comparison.h"
#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "host/measure/measured_side.h"
#include "host/measure/timed_results.h"

namespace ferry::bench {

// The device that a process ran on.
struct RanOn {
  std::string device, board, processor;  // names
  DeviceFacts facts;
};
RanOn ran_on(const Device& device);

struct MeasuredProcess {
  std::vector<Timing> timings;        // in the order of the sides
  std::vector<TimedResults> results;  // in that order
  std::vector<std::string> too_fast;  // why the times of each cannot be true; empty: they can
  std::string difference;             // how the results of the first side differ from those of the second; or empty
  std::uint64_t compared_calls = 0;   // timed calls of both sides whose outputs were compared
  std::vector<TimedChecks> checks;    // what was held against the definition of each
  RanOn on;
};

struct PlacedSide {
  const MeasuredSide& side;
  std::uint32_t layout = 0;  // where its code is placed
  // How its parameters are paired with those of the side before, if results are to agree; null: they need not.
  const verify::ParameterPairs* pairs = nullptr;
};

// Measures the sides in turns in one process. Each has tensors of its own, so that nothing that one leaves in them is
// seen by the other, at the same offsets from the start of a page. A session
// that is lost before anything ran there is opened again. Throws Error for what the device refuses, if the session is
// lost, and if a kernel fails, which is_failure_of_kernel() recognises: then `crashed` is the number of the side in
// whose code the process crashed, if that is known.
MeasuredProcess measure_process(const OpenSession& open, const RunSettings& settings, std::span<const PlacedSide> sides,
                                const MemoryLayout& memory, const Observer& observer,
                                std::optional<std::size_t>* crashed = nullptr);

struct PairedRun {
  ComparedProcess process;
  RanOn on;
};

// Measures A and B, in the order that the layout says. Throws as above; `crashed` is 0 for A and 1 for B.
PairedRun paired_run(const OpenSession& open, const RunSettings& settings, const std::array<MeasuredSide, 2>& sides,
                     const ProcessLayout& layout, const Observer& observer,
                     std::optional<std::size_t>* crashed = nullptr);

}  // namespace ferry::bench
