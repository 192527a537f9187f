// --schedule, --schedule-text and --knob: the user's schedule of the kernel.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/schedule/schedule_text.h"

namespace ferry::cli {

// Names accepted instead of a schedule file: the default schedule, and serial loops in the order of the definition.
inline constexpr const char* kDefaultSchedule = "default";
inline constexpr const char* kUnscheduled = "none";

struct ScheduleOptions {
  std::string file;
  std::string text;  // instead of a file
  std::vector<std::string> knobs;
};
void add_schedule_options(CLI::App& command, ScheduleOptions& options);
void add_knob_option(CLI::App& command, std::vector<std::string>& knobs);

// Returns nothing if neither a text nor a real file is given. Throws UsageError for both, for a file that cannot be
// read, for knobs not of the form NAME=VALUE, and for knobs without a schedule.
std::optional<ScheduleText> read_schedule(const ScheduleOptions& options);

// Parses "ty=8" by name. Throws UsageError for another form, and for two values of one knob.
std::map<std::string, std::string> parse_knobs(const std::vector<std::string>& words);

}  // namespace ferry::cli
