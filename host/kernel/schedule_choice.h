// The schedule that a user chose for a kernel.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ferry/schedule/schedule_text.h"

namespace ferry {

// Names accepted instead of a schedule file: the default schedule, and serial loops in the order of the definition.
inline constexpr const char* kDefaultSchedule = "default";
inline constexpr const char* kUnscheduled = "none";

struct ScheduleOptions {
  std::string file;                    // of directives, or one of the names above; "-": stdin
  std::string text;                    // instead of a file: directives with ';' or newlines between them
  std::string text_name = "schedule";  // in messages
  std::vector<std::string> knobs;      // NAME=VALUE
};

// Returns nothing if neither a text nor a real file is given. Throws UsageError for both, for a file that cannot be
// read, for knobs not of the form NAME=VALUE, and for knobs without a schedule.
std::optional<ScheduleText> read_schedule(const ScheduleOptions& options);

// Parses "ty=8" by name. Throws OptionError (knob) for another form, and for two values of one knob.
std::map<std::string, std::string> parse_knobs(const std::vector<std::string>& words);

}  // namespace ferry
