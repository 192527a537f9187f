// --target where there is a device that has an own idea of it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "host/cli/kernel.h"
#include "host/session/ferry.h"

namespace ferry::cli {

void add_target_option(CLI::App& command, std::string& target);

// What was typed, or what the device says it is; of a module that is compiled already what it says itself, where
// nothing else can be told. Notes about ignored keys go to stderr.
Target target_for(const Device& device, const std::string& text, const KernelSource& source);
Target resolve_with_notes(const std::string& text);
// The devices beside the CPU that a kernel runs on, as ConnectOptions takes them: those of the target, or when that is
// not said of the module that it is compiled to already.
std::vector<std::string> devices_for(const std::string& target, const KernelSource& source);

}  // namespace ferry::cli
