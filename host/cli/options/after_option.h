// --after: the pass after which loops are shown.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ferry::cli {

void add_after_option(CLI::App& command, std::string& after, const std::string& help);

}  // namespace ferry::cli
