// How to measure: the options that bench and compare share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "host/session/ferry.h"

namespace ferry::cli {

struct MeasureOptions {
  BenchOptions bench;
  double tolerance_percent = 1;
  std::string cores = {};  // "any", "big", "little", "0,2-3"
};

// With the command's own defaults already in `options`.
void add_measure_options(CLI::App& command, MeasureOptions& options);

// The protocol's options for this device: cores found, what cold mode implies filled in, the files to watch. UsageError
// where they contradict each other or the device has no such cores.
BenchOptions bench_options_for(const MeasureOptions& options, const Device& device);

// "0,2-3" as numbers; UsageError says what was expected.
std::vector<std::uint32_t> parse_cores(const std::string& text);

}  // namespace ferry::cli
