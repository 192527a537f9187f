// --target for commands that have a device, which determines the default, and how targets are printed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ferry::cli {

void add_target_option(CLI::App& command, std::string& target);

// Adds --verbose, which prints targets whole.
void add_verbose_option(CLI::App& command, bool& verbose);
// Returns the target, without the list of features and facts that follows the triple and the CPU unless `verbose`.
std::string target_text(const std::string& target, bool verbose);

}  // namespace ferry::cli
