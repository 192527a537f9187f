// --schedule, --schedule-text, --knob and --point: the user's schedule of the kernel.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "host/kernel/schedule_choice.h"

namespace ferry::cli {

void add_schedule_options(CLI::App& command, ScheduleOptions& options);
void add_knob_option(CLI::App& command, std::vector<std::string>& knobs, const std::string& name = "--knob");
// `kernel` ends the description: "" or " of A".
void add_point_option(CLI::App& command, std::vector<std::string>& points, const std::string& name = "--point",
                      const std::string& kernel = "");

}  // namespace ferry::cli
