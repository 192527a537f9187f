#include <cstdio>
#include <memory>

#include "host/cli/commands/command.h"
#include "host/cli/options/after_option.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/schedule_option.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/kernel/diff_schedules.h"
#include "host/text/json.h"
#include "host/text/style.h"
#include "host/text/unified_diff.h"

namespace ferry::cli {

namespace {

struct Options : DiffRequest {
  bool json = false;
};

text::Json side_json(const ScheduleDiff& diff, const Options& options, int side) {
  return {{"name", options.schedules[side]}, {"schedule", diff.schedules[side]}, {"loops", diff.loops[side]}};
}

int run_diff(const Compiler* given, const Options& options) {
  const ScheduleDiff diff = diff_schedules(expect_compiler(given, "ferry diff"), options, terminal());
  const auto text = [&](auto... more) {
    return text::unified_diff(diff.loops[0], diff.loops[1], options.schedules[0], options.schedules[1], more...);
  };
  if (options.json) {
    text::print_json({{"schema", "ferry.diff/1"},
                      {"same", diff.is_same()},
                      {"target", diff.target},
                      {"first", side_json(diff, options, 0)},
                      {"second", side_json(diff, options, 1)},
                      {"diff", text()}});
  } else {
    fputs(text(3, text::has_color(stdout)).c_str(), stdout);
  }
  return diff.is_same() ? kExitFine : kExitWrongResult;
}

}  // namespace

void add_diff(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("diff", "Show how two schedules of a kernel differ in their loops");
  command.add_option("kernel", options->kernel, "The kernel, or '-' for stdin")->type_name("K.tc")->required();
  command
      .add_option("schedule", options->schedules[0],
                  "A schedule: a file, 'default' for what ferry decides, 'none' for serial loops in the written order")
      ->type_name("SCHEDULE")
      ->required();
  command.add_option("other-schedule", options->schedules[1], "The schedule to hold against it")
      ->type_name("SCHEDULE")
      ->required();
  command.add_option("--fn", options->function, "The function to take, where there are several")->type_name("NAME");
  add_knob_option(command, options->knobs);
  add_knob_option(command, options->own_knobs[0], "--knob-a");
  add_knob_option(command, options->own_knobs[1], "--knob-b");
  add_point_option(command, options->points[0], "--point-a", ", if it is the first one");
  add_point_option(command, options->points[1], "--point-b", ", if it is the second one");
  command.add_option("--target", options->target, "What to compile for (default: this machine); see 'ferry targets'")
      ->type_name("TARGET");
  add_after_option(command, options->after, "Compare the loops after this pass (default: as lowered and simplified)");
  add_json_option(command, options->json);
  command.footer(
      "Exit codes: 0 the loops are the same; 1 they differ; 2 a mistake.\n\n"
      "Examples:\n"
      "  ferry diff mm.tc none mm.schedule\n"
      "  ferry diff mm.tc default mm.schedule --knob rows=8 --after vectorize\n"
      "  ferry diff mm.tc mm.schedule mm.schedule --knob-a rows=4 --knob-b rows=8");
  command.callback(
      [options, &chosen] { chosen = [options](const Compiler* compiler) { return run_diff(compiler, *options); }; });
}

}  // namespace ferry::cli
