// --role: what a client or a token may do.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "farm/protocol/queries.h"

namespace ferry::cli {

void add_role_option(CLI::App& command, std::string& role);
farm::wire::Role parse_role(const std::string& role);
// The words of an enumerator, for the check of an option.
std::vector<std::string> words_of(const auto& words) {
  std::vector<std::string> texts;
  for (const auto& word : words) texts.emplace_back(word.text);
  return texts;
}

}  // namespace ferry::cli
