#include "host/kernel/schedule_choice.h"

#include <algorithm>
#include <filesystem>

#include "base/quantity_text.h"
#include "ferry/kernel/option_error.h"
#include "host/kernel/file.h"
#include "host/lang/names.h"

namespace ferry {

namespace {

// Throws OptionError for a file that does not exist and whose name is nearly one of the words.
void expect_no_misspelt_word(const std::string& file) {
  if (file == "-" || std::filesystem::exists(file)) return;
  const std::string meant = lang::suggestion(file, {kDefaultSchedule, kUnscheduled});
  if (!meant.empty()) throw OptionError(Option::schedule, "there is no file '" + file + "'" + meant);
}

}  // namespace

std::map<std::string, std::string> parse_knobs(const std::vector<std::string>& words) {
  std::map<std::string, std::string> knobs;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
      throw OptionError(Option::knob, word + ": expected NAME=VALUE");
    std::string name = word.substr(0, equals);
    if (name[0] == '$') name.erase(0, 1);
    if (!knobs.emplace(name, word.substr(equals + 1)).second)
      throw OptionError(Option::knob, word + ": expected one value for " + name + ", got a second one");
  }
  return knobs;
}

std::optional<PointText> read_point(const ScheduleOptions& options) {
  if (options.points.empty()) return std::nullopt;
  const bool is_default = options.file.empty() || options.file == kDefaultSchedule;
  if (!is_default || !options.text.empty())
    throw OptionError(Option::point, options.points.front() +
                                         ": expected the default schedule, which has the knobs, got " +
                                         (is_default ? "the text of another" : "'" + options.file + "'"));
  return PointText{join("\n", options.points), options.point_name};
}

std::string point_line(const PointText& point) {
  std::string line;
  for (std::size_t start = 0; start < point.text.size();) {
    const std::size_t end = std::min(point.text.find('\n', start), point.text.size());
    const std::string part = point.text.substr(start, end - start);
    if (part.find_first_not_of(" \t\r") != std::string::npos) line += (line.empty() ? "" : "; ") + part;
    start = end + 1;
  }
  return line;
}

std::optional<ScheduleText> read_schedule(const ScheduleOptions& options) {
  if (!options.file.empty() && !options.text.empty())
    throw OptionError(Option::schedule, "expected one schedule, got a text and the file '" + options.file + "'");
  const bool is_word = options.file == kDefaultSchedule || options.file == kUnscheduled;
  if (is_word || (options.file.empty() && options.text.empty())) {
    if (!options.knobs.empty())
      throw OptionError(Option::knob, options.knobs.front() + ": expected a schedule of your own with this knob");
    return std::nullopt;
  }
  ScheduleText schedule;
  schedule.knobs = parse_knobs(options.knobs);
  if (!options.file.empty()) {
    expect_no_misspelt_word(options.file);
    schedule.text = read_file(options.file);
    schedule.file = options.file;
  } else {
    schedule.text = options.text;
    std::replace(schedule.text.begin(), schedule.text.end(), ';', '\n');
    schedule.file = options.text_name;
  }
  return schedule;
}

}  // namespace ferry
