// One case through all oracles, in a process of its own, so that a crash or a loop without end is a result like others.
#pragma once

#include "tests/fuzz/cases/fuzz_case.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferry::fuzz {

struct Outcome {
  // "ok"; "program" when the text was refused, which is the generator's mistake; "illegal" when lowering refused the
  // schedule; "outside" when the program may read outside of a tensor and was refused for it; else what is wrong:
  // "crash", "hang", "internal", "interpreter", "mismatch", "code", "error".
  std::string kind = "ok";
  std::string step;     // what was being done
  std::string message;  // what went wrong, in words
  std::vector<std::string> directives;
  std::vector<std::pair<std::string, std::string>> refusals;  // directive, sentence
  std::vector<std::string> slow;                              // steps that took too long, which is no failure

  bool is_failure() const { return kind != "ok" && kind != "illegal" && kind != "outside"; }
};

// A case with random directives: those that were accepted are in the outcome, without those that lowering refused.
Outcome run_generated(const FuzzCase& fuzz_case, std::uint64_t schedule_seed);
// With the directives of the case.
Outcome run_case(const FuzzCase& fuzz_case);

// Program, directives and all: what a seed stands for, run. The case has the directives of the outcome. What is too
// slow for one of the oracles is run again with smaller sizes, so that all of them see it; when that fails, it is the
// result.
std::pair<FuzzCase, Outcome> run_seed(std::uint64_t seed);

}  // namespace ferry::fuzz
