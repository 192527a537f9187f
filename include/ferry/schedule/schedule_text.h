// A schedule as passed to the compiler: its text and the values of its knobs.
#pragma once

#include <map>
#include <string>

namespace ferry {

struct ScheduleText {
  // Directives, one a line (docs/schedules.md). With several functions, those of each one follow a line "def NAME".
  std::string text;
  // By name, without the '$'.
  std::map<std::string, std::string> knobs = {};
  // Name of the text in messages.
  std::string file = "schedule";
};

}  // namespace ferry
