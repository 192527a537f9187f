// The schedule that a user chose for a kernel.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ferry/kernel/kernel_options.h"
#include "ferry/schedule/point_text.h"
#include "ferry/schedule/schedule_text.h"

namespace ferry {

// Returns nothing if neither a text nor a real file is given. Throws UsageError for both, for a file that cannot be
// read, for knobs not of the form NAME=VALUE, and for knobs without a schedule.
std::optional<ScheduleText> read_schedule(const ScheduleOptions& options);

// Returns nothing if no point is given. Throws OptionError (point) for one beside a schedule other than the default.
std::optional<PointText> read_point(const ScheduleOptions& options);
// Returns the point in one line.
std::string point_line(const PointText& point);

// Parses "ty=8" by name. Throws OptionError (knob) for another form, and for two values of one knob.
std::map<std::string, std::string> parse_knobs(const std::vector<std::string>& words);

}  // namespace ferry
