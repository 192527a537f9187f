// Common parts of 'ferry tune' and 'ferry records verify': options of commands that compare schedules on a device
// and record what they find, and how such work begins.
#pragma once

#include "ferry/kernel/observer.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/interrupts.h"
#include "host/cli/options/kernel_options.h"

#include <cstdint>
#include <string>

namespace ferry::cli {

struct ComparisonOptions {
  std::string& records;  // a file; empty: the user's own
  std::uint32_t& processes;
  std::uint32_t& threads;
};
struct ComparisonHelp {
  std::string records, processes;
};

// Adds --records, --threads and --processes. Returns the last.
CLI::Option* add_comparison_options(CLI::App& command, ComparisonOptions options, const ComparisonHelp& help);

// While it exists, a first Ctrl-C ends the work early, with what it has.
class TuningWork {
 public:
  TuningWork();
  Observer observer;

 private:
  InterruptibleWork work_;
};

// Returns the named file, or the user's own.
std::string records_or_own(const std::string& file);

}  // namespace ferry::cli
