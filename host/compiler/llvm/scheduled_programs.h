// The schedules of the functions that are compiled together.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crosscompile/ir/function.h"
#include "crosscompile/passes/lost_vectors.h"
#include "ferry/schedule/schedule.h"
#include "host/compiler/api/compiler.h"
#include "module/manifest.h"

namespace ferry {

// Code for some sizes of a function alone.
struct SizedFunction {
  std::string name, general;  // its own, and that of the function for any sizes
  SizesByName sizes;
};

struct ScheduledPrograms {
  std::vector<lang::Program> programs;
  std::vector<schedule::Schedule> schedules;  // one for each program: the user's, a tuned one, or the default
  std::vector<SizedFunction> sized = {};      // the last programs
};

// Returns the programs to compile: first those that were asked for, then, unless they are left out, those that tuning
// has found schedules for at some sizes.
ScheduledPrograms scheduled_programs(const Scheduled& scheduled, const Target& target, bool with_sized = true);

// Returns the text of the schedules, which can be replayed for the programs that were asked for: those of code for some
// sizes are comments.
std::string schedule_text(const ScheduledPrograms& all);

// Returns the point of a default schedule that tuning has found for the program.
PointText point_of(const TunedSchedule& tuned, const lang::Program& program);

// Returns a name for the code of a function for some sizes, which none of the programs has.
std::string sized_name(const std::string& general, std::span<const lang::Program> programs);

// Makes functions for some sizes part of those for any (module/sized_variant.h).
void attach_sized(std::span<const SizedFunction> sized, Manifest& manifest);

// Finds directives of the user's schedule that the compiler cannot carry out on the target.
class ScheduleNotes {
 public:
  // `lowered` are the functions of the module, as lowered. Default schedules have no notes.
  ScheduleNotes(const Scheduled& scheduled, std::span<const schedule::Schedule> schedules,
                std::span<const ir::Function> lowered, const Target& target);

  // Takes a function after each pass, as passes::AfterPass.
  void after(std::size_t function, std::string_view pass, const ir::Function& now);
  // Runs the passes that decide for the functions of which after() was not told. Leaves out those that they refuse.
  void run_passes(std::span<const ir::Function> lowered, const Target& target);
  // Returns a line for each directive.
  std::vector<std::string> texts() const;

 private:
  struct Function {
    std::string program;
    passes::LostVectors lost;
  };
  struct Program {
    std::string name;
    std::vector<std::string> idle;
  };
  std::vector<Program> programs_;
  std::vector<Function> functions_;  // none: nothing is noted
};

}  // namespace ferry
