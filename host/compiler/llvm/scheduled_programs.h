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

namespace ferry {

// Returns one schedule for each program: the user's, or the default.
std::vector<schedule::Schedule> schedules_of(const Scheduled& scheduled, const Target& target);

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
