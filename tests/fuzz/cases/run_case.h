// Runs one case through all oracles in a process of its own, so that a crash or an endless loop is a result like any
// other.
#pragma once

#include "tests/fuzz/cases/fuzz_case.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferry::fuzz {

struct Outcome {
  // "ok"; "program" if the text was refused, which is the generator's fault; "illegal" if lowering refused the
  // schedule; "outside" if the program may read outside of a tensor and was refused for it; otherwise the kind of
  // failure: "crash", "hang", "internal", "interpreter", "mismatch", "code", "error".
  std::string kind = "ok";
  std::string step;     // the step that was running
  std::string message;  // description of the failure
  std::vector<std::string> directives;
  std::vector<std::pair<std::string, std::string>> refusals;  // directive, message
  std::vector<std::string> slow;  // steps that need too much time or memory, which is no failure

  bool is_failure() const { return kind != "ok" && kind != "illegal" && kind != "outside"; }
};

// Runs a case with random directives. The outcome lists the accepted ones, without those that lowering refused.
Outcome run_generated(const FuzzCase& fuzz_case, std::uint64_t schedule_seed);
// Runs a case with its own directives.
Outcome run_case(const FuzzCase& fuzz_case);

// Generates the program and directives of a seed and runs them. The returned case has the directives of the outcome. A
// case that is too slow for one of the oracles is run again with smaller sizes, so that every oracle runs; if that
// fails, the failure is the result.
std::pair<FuzzCase, Outcome> run_seed(std::uint64_t seed);

}  // namespace ferry::fuzz
