// Command lines that end with another program's: "ferry farm exec rpi4 -- make test".
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ferry::cli {

// Returns the words of the command line for CLI::App::parse(). Those after the first "--" of 'farm exec' become values
// of the option that add_program_option() adds, because CLI11 cannot tell them from the words before. Throws
// CLI::ParseError for an option with '=' and no value behind it, which only flags of a compiler may lack.
std::vector<std::string> parser_words(int count, char** words);

void add_program_option(CLI::App& command, std::vector<std::string>& words);
// Returns the words as they were typed.
std::vector<std::string> program_words(const std::vector<std::string>& values);

}  // namespace ferry::cli
