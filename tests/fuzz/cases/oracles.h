// The oracles for a program under a schedule: the interpreter, before and after the passes, and machine code compute
// the results of the reference evaluator, and no step throws, reports an error or writes out of bounds.
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
  // Called repeatedly during a long step.
  virtual void step(const std::string& name) = 0;
  // A step was abandoned because it took too long; the other steps continue.
  virtual void slow(const std::string& step) = 0;
  virtual void directive(const std::string& text) = 0;
  // The last directive was dropped; `sentence` is the message with which lowering refused the schedule.
  virtual void dropped(const std::string& sentence) = 0;
  virtual void refused(const std::string& directive, const std::string& sentence) = 0;
};

struct Verdict {
  std::string kind = "ok";
  std::string message = {};
};

// Runs all oracles, with random directives if there is a seed, else with those of the case. Kinds are those of Outcome.
Verdict judge(const FuzzCase& fuzz_case, const std::optional<std::uint64_t>& schedule_seed, Progress& progress);

// Targets of different vector widths whose code runs on this machine.
const std::vector<std::string>& native_targets();

}  // namespace ferry::fuzz
