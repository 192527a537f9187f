// Formats --help like CLI11, with lines that fit the terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ferry::cli {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_footer(const CLI::App* app) const override;
};

}  // namespace ferry::cli
