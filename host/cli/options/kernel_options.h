// The options of a kernel that a subcommand works on.
#pragma once

#include <CLI/CLI.hpp>

#include "host/kernel/kernel.h"

namespace ferry::cli {

struct KernelCommand : KernelOptions {
  double deadline = 0;           // compile time in seconds; 0: no limit
  std::string own_c_flags = {};  // follow those that two kernels share
  std::string own_launch = {};   // in place of the launch that two kernels share
};

// Adds K.tc|K.ferry|-, -e TEXT, --fn F, and the options of the schedule.
void add_kernel_options(CLI::App& command, KernelCommand& options, const char* file_help);

// Adds --signature, --launch and --cflags, for commands that accept kernels of any kind.
void add_foreign_options(CLI::App& command, KernelOptions& options);
// The same for two kernels, with --launch-a, --launch-b, --cflags-a and --cflags-b.
void add_foreign_pair_options(CLI::App& command, KernelCommand& a, KernelCommand& b);
// Adds two files, --fn-a and --fn-b for functions, --schedule-a and --schedule-b, --knob-a and --knob-b,
// --point-a and --point-b.
void add_kernel_pair_options(CLI::App& command, KernelCommand& a, KernelCommand& b);

}  // namespace ferry::cli
