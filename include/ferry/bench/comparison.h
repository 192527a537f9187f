// The options of a comparison of two kernels, and its results.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ferry/bench/measurement.h"
#include "ferry/bench/sampling.h"
#include "ferry/bench/timed_checks.h"
#include "ferry/kernel/call_options.h"
#include "ferry/stats/comparison.h"
#include "ferry/verify/findings.h"

namespace ferry::bench {

// With fewer processes there is no verdict; more would take days.
inline constexpr std::uint32_t kLeastProcesses = 3, kMostProcesses = 1000;

struct CompareOptions {
  CallOptions call = {};
  std::string target = {};  // empty: that of the device
  SamplingOptions sampling{{.number = 0, .repeat = 40, .min_repeat_ms = 0.5, .warmup_ms = 5, .timeout_ms = 10'000}};
  std::uint32_t processes = 12;  // fresh sessions, each with another layout of code and data
  double least_effect = 0.01;    // a smaller difference, as a share of the time, is called none
  bool thorough = false;         // and each with its definition for adversarial inputs and other sizes too
  bool compares_results = true;  // compare what the kernels compute, and measure them only if that is the same
  verify::DifferenceLimits limits = {};
};

// Where a process has its tensors.
struct MemoryLayout {
  std::uint64_t memory_pages = 0;      // allocated before anything else
  std::vector<std::uint64_t> offsets;  // offset of each tensor from the start of a page, in bytes
};

// The random layout of a process.
struct ProcessLayout : MemoryLayout {
  std::uint32_t code[2] = {0, 0};  // numbers of the layouts that the code of A and B is linked in
  bool b_first = false;
};

struct ComparedProcess {
  ProcessLayout layout;
  Timing timings[2];  // A's and B's
  // The median of log(time of A / time of B) over the pairs of samples; not a number if a sample took no time.
  double log_ratio = 0;
  // What is wrong with the timed calls of A and of B, and how their results differ, in sentences; empty: nothing.
  std::array<std::string, 2> mistakes = {};
  std::string difference = {};
  std::uint64_t compared_calls = 0;          // timed calls of both, drawn in secret, whose outputs were compared
  std::array<TimedChecks, 2> checks = {};    // what was held against the definition of A and of B
  std::array<std::string, 2> too_fast = {};  // why the times of A and of B cannot be true; empty: they can
  std::string unchecked = {};                // why that was not looked at; empty: it was
};

// Properties that are the same in every process.
struct ComparedFacts {
  MeasuredFunction functions[2];
  std::string device, processor;
  DeviceFacts facts;
  std::string target;
};

struct KernelComparison {
  std::vector<verify::OutputComparison> outputs;  // empty if they were not to be compared
  std::vector<std::string> inputs;                // what the kernels read: "x: i16 from -32768 to 32767"
  std::vector<std::string> weaknesses;            // why it says little: "every element of y is 0: ..."
  // Those of A and of B against the definition of the kernel itself, or of the other if only that has one.
  std::array<std::vector<verify::CheckResult>, 2> checks = {};
  // Calls of A and of B with other inputs, each against its own definition.
  std::array<std::vector<verify::Probe>, 2> probes = {};
  bool has_one_definition = false;  // both are held against the same definition
  // Empty, as are the facts, if the outputs differ: times of different computations are not comparable.
  std::vector<ComparedProcess> processes;
  ComparedFacts facts;
  stats::Comparison times;
  SecretSeed secret = {};  // what was new for each call in process i was drawn from derived_seed(secret, i)

  // Returns "y[3] 0.7 against 0 (2 of 5 elements differ)" for the first output that differs, or how one is wrong by
  // definition; empty if none is.
  std::string difference() const;
  // Returns what is wrong with the timed calls, "A: 39 samples did not write all of the outputs"; empty if nothing is.
  // Then `times` says nothing.
  std::string timed_mistake() const;
  // Returns why the times cannot be true, "3 of 40 samples of A took no time"; empty if they can. Then `times` says
  // nothing.
  std::string impossible() const;
  // Returns what was held against the definition of A (0) or B (1) in all processes.
  TimedChecks timed_checks(int kernel) const;
  // Returns how many timed calls of both were compared in all processes.
  std::uint64_t compared_calls() const;
  // Returns the median over the processes' medians for A (0) or B (1), in seconds a call.
  double median(int kernel) const;
  // Returns the median over the processes of the instructions of a call; NaN if the device does not count them.
  double instructions(int kernel) const;
  // Returns sentences that say why the times, or the comparison of results, should not be trusted.
  std::vector<std::string> warnings() const;
};

}  // namespace ferry::bench
