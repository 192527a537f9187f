// --schedule, --schedule-text and --knob: how the kernel is to be computed.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/schedule/schedule_text.h"

namespace ferry::cli {

// What may stand instead of a schedule's file: what ferry decides; serial loops as the definition has them.
inline constexpr const char* kDefaultSchedule = "default";
inline constexpr const char* kUnscheduled = "none";

struct ScheduleOptions {
  std::string file;
  std::string text;  // instead of a file
  std::vector<std::string> knobs;
};
void add_schedule_options(CLI::App& command, ScheduleOptions& options);
void add_knob_option(CLI::App& command, std::vector<std::string>& knobs);

// Nothing when neither text nor a real file was given. UsageError for both, for a file that cannot be read, and for
// knobs that are not NAME=VALUE or have no schedule to be in.
std::optional<ScheduleText> read_schedule(const ScheduleOptions& options);

// "ty=8" by name. UsageError for another form, and for two values of one knob.
std::map<std::string, std::string> parse_knobs(const std::vector<std::string>& words);

}  // namespace ferry::cli
