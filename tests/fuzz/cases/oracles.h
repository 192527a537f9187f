// What a program under a schedule must fulfil: the interpreter, before and after the passes, and machine code compute
// what the reference evaluator says, and nobody throws, reports or writes where he must not.
#pragma once

#include "tests/fuzz/cases/fuzz_case.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ferry::fuzz {

class Progress {
 public:
  virtual ~Progress() = default;
  // Told again while a long one goes on.
  virtual void step(const std::string& name) = 0;
  // A step that was given up because it took too long; the others go on.
  virtual void slow(const std::string& step) = 0;
  virtual void directive(const std::string& text) = 0;
  // The last directive, with the sentence in which lowering refused the schedule.
  virtual void dropped(const std::string& sentence) = 0;
  virtual void refused(const std::string& directive, const std::string& sentence) = 0;
};

struct Verdict {
  std::string kind = "ok";
  std::string message = {};
};

// With random directives for a seed, else with those of the case. Kinds as in Outcome.
Verdict judge(const FuzzCase& fuzz_case, const std::optional<std::uint64_t>& schedule_seed, Progress& progress);

// Targets of different vector widths whose code this machine runs.
const std::vector<std::string>& native_targets();

}  // namespace ferry::fuzz
