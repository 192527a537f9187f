// Compares the loops that two schedules make of the same kernel.
#pragma once

#include <string>
#include <vector>

#include "host/kernel/compile_kernel.h"

namespace ferry {

struct DiffRequest {
  std::string kernel;                          // a file, or "-" for stdin
  std::string schedules[2];                    // files, or one of the words of schedule_choice.h
  std::string function = {};                   // empty: every function
  std::string target = {};                     // empty: this machine
  std::string after = {};                      // the pass after which the loops are shown, as of KernelCompiler::emit()
  std::vector<std::string> knobs = {};         // NAME=VALUE, each for the schedules that have the knob
  std::vector<std::string> own_knobs[2] = {};  // each schedule's, in place of the common ones
  std::vector<std::string> points[2] = {};     // as ScheduleOptions::points, if a default schedule is shown
};

struct ScheduleDiff {
  std::string target;
  std::string schedules[2];  // as texts that reproduce them
  std::string loops[2];

  bool is_same() const { return loops[0] == loops[1]; }
};

// Throws OptionError for a knob that neither schedule has, UsageError for a kernel without schedules, and CompileError.
ScheduleDiff diff_schedules(const Compiler& compiler, const DiffRequest& request, const Observer& observer = {});

}  // namespace ferry
