#include "host/cli/options/check_options.h"

#include <cmath>

#include "host/cli/options/option_checks.h"

namespace ferry::cli {

void add_check_options(CLI::App& command, CheckOptions& options) {
  command.add_flag("--check", options.check,
                   "Compare with the definition, computed directly on this machine; exit code 1 when they differ");
  add_tolerance_options(command, options);
}

void add_tolerance_options(CLI::App& command, CheckOptions& options) {
  command.add_flag("--thorough", options.thorough,
                   "Compare with the definition for adversarial inputs and other sizes as well");
  command
      .add_option("--rtol", options.limits.rtol,
                  "Allowed error relative to the expected value (default: by type, printed)")
      ->type_name("X")
      ->check(number(0, HUGE_VAL));
  command.add_option("--atol", options.limits.atol, "Allowed absolute error, in addition (default: by type, printed)")
      ->type_name("X")
      ->check(number(0, HUGE_VAL));
}

void expect_checked(const CheckOptions& options, bool is_checked) {
  if (options.thorough && !is_checked)
    throw UsageError("--thorough: expected --check or --check-against with it, a definition to compare with");
}

void add_check_against_option(CLI::App& command, std::string& file) {
  command
      .add_option(
          "--check-against", file,
          "Compare with what this kernel computes from the same inputs: by its definition, or on the same device")
      ->type_name("FILE");
}

}  // namespace ferry::cli
