// --target for commands that have a device, which determines the default.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "host/cli/options/kernel.h"
#include "host/session/ferry.h"

namespace ferry::cli {

void add_target_option(CLI::App& command, std::string& target);

// Returns the target that the user typed, or that of the device. A compiled module determines it if it is for a GPU, or
// if this ferry has no compiler. Notes about ignored keys go to stderr.
Target target_for(const Device& device, const std::string& text, const KernelSource& source);
Target resolve_with_notes(const std::string& text);
// Returns the devices besides the CPU that a kernel runs on, in the form of ConnectOptions: those of the target, or
// without one those that a compiled module needs.
std::vector<std::string> devices_for(const std::string& target, const KernelSource& source);

}  // namespace ferry::cli
