// --json, of each command that can print JSON.
#pragma once

#include <CLI/CLI.hpp>

namespace ferry::cli {

inline void add_json_option(CLI::App& command, bool& json) { command.add_flag("--json", json, "Print JSON"); }

}  // namespace ferry::cli
