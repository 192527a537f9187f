// What --json prints: one object, keys in the order they were added.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace ferry::cli {

using Json = nlohmann::ordered_json;

inline void add_json_option(CLI::App& command, bool& json) { command.add_flag("--json", json, "Print JSON"); }

// Two spaces of indentation, bytes that are no UTF-8 replaced, a newline at the end.
void print_json(const Json& json);

}  // namespace ferry::cli
