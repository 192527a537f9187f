// --check: compares a call's outputs with the reference evaluation of the program on this machine.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/output/json.h"
#include "host/kernel/call_plan.h"
#include "host/lang/program.h"

namespace ferry::cli {

struct CheckOptions {
  bool check = false;
  std::optional<double> rtol, atol;  // nothing: by the output's type
};
void add_check_options(CLI::App& command, CheckOptions& options);
// The same without --check itself.
void add_tolerance_options(CLI::App& command, CheckOptions& options);

struct CheckResult {
  std::string output;
  std::uint64_t compared = 0, elements = 0;
  double largest_absolute = 0, largest_relative = 0;
  double rtol = 0, atol = 0;
  bool with_rounding = false;  // rounding errors of the element's terms are allowed too
  std::uint64_t wrong = 0;
  std::string first_wrong;  // "C[3,4] is 1.5, expected 1.25"
};

// `outputs` has the bytes of each parameter that the call wrote, empty for the others.
std::vector<CheckResult> check_outputs(const lang::Program& program, const FunctionInfo& function, const CallPlan& plan,
                                       const std::vector<std::vector<std::uint8_t>>& outputs,
                                       const CheckOptions& options);

// "check C: all 262,144 elements, largest error 1.2e-06 absolute, 3.4e-05 relative; allowed ...: fine"
std::string to_text(const CheckResult& result);
Json check_json(const CheckResult& result);

}  // namespace ferry::cli
