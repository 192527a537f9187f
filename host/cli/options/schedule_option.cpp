#include "host/cli/options/schedule_option.h"

#include <algorithm>

#include "host/cli/options/exit_code.h"
#include "host/cli/options/kernel.h"

namespace ferry::cli {

void add_knob_option(CLI::App& command, std::vector<std::string>& knobs) {
  command.add_option("--knob", knobs, "What a knob of the schedule stands for: rows=8; once a knob")
      ->type_name("NAME=VALUE")
      ->type_size(1)
      ->allow_extra_args(false);
}

void add_schedule_options(CLI::App& command, ScheduleOptions& options) {
  command
      .add_option(
          "--schedule", options.file,
          "How to compute it: a file of directives, see docs/schedules.md; 'default': as ferry decides; 'none': "
          "by serial loops")
      ->type_name("FILE");
  command.add_option("--schedule-text", options.text, "The directives themselves, with ';' between them")
      ->type_name("TEXT");
  add_knob_option(command, options.knobs);
}

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
      throw UsageError("--knob needs a schedule of your own: --schedule FILE or --schedule-text TEXT");
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

}  // namespace ferry::cli
