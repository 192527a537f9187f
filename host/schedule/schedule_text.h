// A schedule as it is handed to a compiler: text, and what its knobs stand for.
#pragma once

#include <map>
#include <string>

namespace ferry {

struct ScheduleText {
  // Directives, one a line; docs/schedules.md. With several functions, each one's stand below a line "def NAME".
  std::string text;
  // By name, without the '$'.
  std::map<std::string, std::string> knobs = {};
  // What messages call it.
  std::string file = "schedule";
};

}  // namespace ferry
