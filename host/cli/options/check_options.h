// --check, --thorough, --rtol, --atol and --check-against: what a kernel's results are compared with.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "host/verify/check_outputs.h"

namespace ferry::cli {

struct CheckOptions {
  bool check = false;
  bool thorough = false;
  verify::CheckLimits limits;
};
void add_check_options(CLI::App& command, CheckOptions& options);
// The same without --check itself.
void add_tolerance_options(CLI::App& command, CheckOptions& options);
// Throws UsageError for --thorough where nothing is checked.
void expect_checked(const CheckOptions& options, bool is_checked);
void add_check_against_option(CLI::App& command, std::string& file);

}  // namespace ferry::cli
