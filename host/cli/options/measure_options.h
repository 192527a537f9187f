// The measurement options shared by bench and compare.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "ferry/bench/sampling.h"

namespace ferry::cli {

struct SamplingCommand : bench::SamplingOptions {
  SamplingCommand(const bench::SamplingOptions& defaults)
      : bench::SamplingOptions(defaults), tolerance_percent(defaults.bench.tolerance * 100) {}

  double tolerance_percent;
  std::string core_names = {};  // "any", "big", "little", "0,2-3"
};

// `options` already holds the command's own defaults.
void add_measure_options(CLI::App& command, SamplingCommand& options);

// Returns what was typed. Throws UsageError, in terms of the options, for cores that are not written as expected and
// for options that contradict each other.
bench::SamplingOptions sampling_of(const SamplingCommand& options);

}  // namespace ferry::cli
