// The measurement options shared by bench and compare.
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

// `options` already holds the command's own defaults.
void add_measure_options(CLI::App& command, MeasureOptions& options);

// Returns the protocol's options for this device: with the selected cores, the settings implied by cold mode, and the
// files to watch. Throws UsageError if they contradict each other or the device has no such cores.
BenchOptions bench_options_for(const MeasureOptions& options, const Device& device);

// Parses "0,2-3"; throws UsageError that says what was expected.
std::vector<std::uint32_t> parse_cores(const std::string& text);

}  // namespace ferry::cli
