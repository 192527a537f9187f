// Checks option values, with messages that say what was expected. They add nothing to the help, which lists the values.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ferry::cli {

CLI::Validator one_of(std::vector<std::string> words);
// Returns the words to which one_of() restricts the option; none if nothing does.
std::vector<std::string> words_of(CLI::Option& option);
CLI::Validator whole_number(std::uint64_t low, std::uint64_t high);
CLI::Validator number(double low, double high);
// Refuses an empty text, such as a variable of the shell that is not set.
CLI::Validator some_text(const std::string& what);

}  // namespace ferry::cli
