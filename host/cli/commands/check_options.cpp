#include <cmath>
#include <cstdio>
#include <string>

#include "base/quantity_text.h"
#include "host/cli/commands/check.h"
#include "host/cli/options/option_checks.h"

namespace ferry::cli {

namespace {

std::string tolerance_text(double value) {
  char text[32];
  snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

void add_check_options(CLI::App& command, CheckOptions& options) {
  command.add_flag("--check", options.check,
                   "Compare with the definition, computed directly on this machine; exit code 1 when they differ");
  add_tolerance_options(command, options);
}

void add_tolerance_options(CLI::App& command, CheckOptions& options) {
  command
      .add_option("--rtol", options.rtol, "Allowed error relative to the expected value (default: by type, printed)")
      ->type_name("X")
      ->check(number(0, HUGE_VAL));
  command.add_option("--atol", options.atol, "Allowed absolute error, in addition (default: by type, printed)")
      ->type_name("X")
      ->check(number(0, HUGE_VAL));
}

std::string to_text(const CheckResult& result) {
  const bool all = result.compared == result.elements;
  const std::string what =
      all ? (result.elements == 1 ? "the only element" : "all " + count_text(result.elements) + " elements")
          : "a seeded sample of " + count_text(result.compared) + " of " + count_text(result.elements) + " elements";
  return "check " + result.output + ": " + what + ", largest error " + number_text(result.largest_absolute) +
         " absolute, " + number_text(result.largest_relative) + " relative; allowed " + tolerance_text(result.atol) +
         " + " + tolerance_text(result.rtol) + " * |expected|" +
         (result.with_rounding ? " + the rounding of its terms" : "") + ": " +
         (result.wrong == 0 ? "fine" : count_text(result.wrong) + " wrong");
}

Json check_json(const CheckResult& result) {
  return {{"output", result.output},
          {"compared", result.compared},
          {"elements", result.elements},
          {"largest_absolute", result.largest_absolute},
          {"largest_relative", result.largest_relative},
          {"rtol", result.rtol},
          {"atol", result.atol},
          {"wrong", result.wrong},
          {"first_wrong", result.first_wrong}};
}

}  // namespace ferry::cli
