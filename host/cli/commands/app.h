// The whole command line: its commands, and sentences for mistakes in it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "host/cli/commands/command.h"

namespace ferry::cli {

// Describes every command to CLI11. The option --color, which all commands have, takes effect when it is parsed.
void add_commands(CLI::App& app, Action& chosen, const session::Schemes& schemes, const MoreCommands& more);

// Returns what is wrong with the command line that was just parsed, in terms of its commands and options.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

// Returns the help of the whole command line, or of the command with this name, such as {"farm", "devices"}. Throws
// UsageError for an unknown command.
std::string help_text(const CLI::App& app, const std::vector<std::string>& words);

// Returns all commands in the order of the help.
std::vector<const CLI::App*> commands_of(const CLI::App& app);

}  // namespace ferry::cli
