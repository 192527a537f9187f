#include "host/kernel/schedule_choice.h"

#include <algorithm>

#include "base/error.h"
#include "host/kernel/file.h"

namespace ferry {

std::map<std::string, std::string> parse_knobs(const std::vector<std::string>& words) {
  std::map<std::string, std::string> knobs;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
      throw UsageError("--knob: expected NAME=VALUE, got '" + word + "'");
    std::string name = word.substr(0, equals);
    if (name[0] == '$') name.erase(0, 1);
    if (!knobs.emplace(name, word.substr(equals + 1)).second)
      throw UsageError("--knob: expected one value for '" + name + "', got a second one: '" + word + "'");
  }
  return knobs;
}

std::optional<ScheduleText> read_schedule(const ScheduleOptions& options) {
  if (!options.file.empty() && !options.text.empty())
    throw UsageError("expected one schedule: --schedule-text TEXT, or --schedule " + options.file);
  const bool is_word = options.file == kDefaultSchedule || options.file == kUnscheduled;
  if (is_word || (options.file.empty() && options.text.empty())) {
    if (!options.knobs.empty())
      throw UsageError("a knob needs a schedule of your own, in a file or as --schedule-text; got none for '" +
                       options.knobs.front() + "'");
    return std::nullopt;
  }
  ScheduleText schedule;
  schedule.knobs = parse_knobs(options.knobs);
  if (!options.file.empty()) {
    schedule.text = read_file(options.file);
    schedule.file = options.file;
  } else {
    schedule.text = options.text;
    std::replace(schedule.text.begin(), schedule.text.end(), ';', '\n');
    schedule.file = "--schedule-text";
  }
  return schedule;
}

}  // namespace ferry
