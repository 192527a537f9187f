#include "host/cli/options/schedule_option.h"

namespace ferry::cli {

void add_knob_option(CLI::App& command, std::vector<std::string>& knobs, const std::string& name) {
  const std::string of = name == "--knob" ? "the schedule" : name == "--knob-a" ? "A's schedule" : "B's schedule";
  command.add_option(name, knobs, "The value of a knob of " + of + ": rows=8; repeat it for each knob")
      ->type_name("NAME=VALUE")
      ->type_size(1)
      ->allow_extra_args(false);
}

void add_point_option(CLI::App& command, std::vector<std::string>& points, const std::string& name,
                      const std::string& kernel) {
  command
      .add_option(
          name, points,
          "Values for knobs of the default schedule" + kernel +
              ": 'C: tile=4x2, order=rows_outside'; with ';' between stages, or repeated. 'ferry compile --emit "
              "space' lists them")
      ->type_name("STAGE: KNOB=VALUE")
      ->type_size(1)
      ->allow_extra_args(false);
}

void add_schedule_options(CLI::App& command, ScheduleOptions& options) {
  options.text_name = "--schedule-text";
  command
      .add_option(
          "--schedule", options.file,
          "How to compute it: a file of directives, see docs/schedules.md; 'default': as ferry decides; 'none': "
          "by serial loops")
      ->type_name("FILE");
  command.add_option("--schedule-text", options.text, "The directives themselves, with ';' between them")
      ->type_name("TEXT");
  add_knob_option(command, options.knobs);
  options.point_name = "--point";
  add_point_option(command, options.points);
}

}  // namespace ferry::cli
