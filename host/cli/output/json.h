// The output of --json: one object with keys in insertion order.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace ferry::cli {

using Json = nlohmann::ordered_json;

inline void add_json_option(CLI::App& command, bool& json) { command.add_flag("--json", json, "Print JSON"); }

// Prints with two spaces of indentation and a final newline; invalid UTF-8 is replaced.
void print_json(const Json& json);

}  // namespace ferry::cli
