// --role: what a client or a token may do.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "farm/protocol/queries.h"

namespace ferry::cli {

void add_role_option(CLI::App& command, std::string& role);
farm::wire::Role parse_role(const std::string& role);
const char* role_name(farm::wire::Role role);

}  // namespace ferry::cli
