// --target for commands that have a device, which determines the default.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ferry::cli {

void add_target_option(CLI::App& command, std::string& target);

}  // namespace ferry::cli
