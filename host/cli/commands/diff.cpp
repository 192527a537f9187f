#include <cstdio>
#include <set>
#include <string>

#include "host/cli/commands/command.h"
#include "host/cli/options/after_option.h"
#include "host/cli/options/schedule_option.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/cli/output/json.h"
#include "host/cli/output/style.h"
#include "host/cli/output/unified_diff.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/file.h"

namespace ferry::cli {

namespace {

struct Options {
  std::string kernel, first, second, function, target, after;
  std::vector<std::string> knobs;
  bool json = false;
};

struct Side {
  std::string schedule, loops;
};

// A knob value applies only to the schedule that has the knob.
Side side(KernelSource source, const std::vector<lang::Program>& programs, const Target& target,
          const std::string& name, const Options& options, std::set<std::string>& used_knobs) {
  const Compiler& compiler = *source.compiler;
  source.schedule.reset();
  source.unscheduled = name == kUnscheduled;
  if (name != kUnscheduled && name != kDefaultSchedule) {
    source.schedule = ScheduleText{read_file(name), {}, name};
    const auto known = compiler.knobs_of(*source.schedule);
    for (const auto& [knob, value] : parse_knobs(options.knobs)) {
      if (!known.contains(knob)) continue;
      source.schedule->knobs[knob] = value;
      used_knobs.insert(knob);
    }
  }
  const Scheduled chosen = scheduled(source, programs);
  const Emission loops = compiler.emit(Stage::loops, {chosen, target}, options.after);
  tell_notes(loops.notes, terminal());
  return {compiler.emit(Stage::schedule, {chosen, target}).text, loops.text};
}

int run_diff(const Compiler* given, const Options& options) {
  const Compiler& compiler = expect_compiler(given, "ferry diff");
  if (is_foreign(options.kernel)) {
    throw UsageError(options.kernel +
                     " is computed as it says: expected a kernel in ferry's own notation, which schedules are for");
  }
  KernelOptions kernel;
  kernel.file = options.kernel;
  const KernelSource source = read_kernel(&compiler, kernel, terminal());
  if (source.module) throw UsageError(source.name + " is compiled already: expected a kernel's text");
  std::vector<lang::Program> programs = source.programs;
  if (!options.function.empty()) programs = {choose_program(source, options.function)};
  const Target target = resolve_with_notes(compiler, options.target.empty() ? "host" : options.target, terminal());
  std::set<std::string> used_knobs;
  const Side first = side(source, programs, target, options.first, options, used_knobs);
  const Side second = side(source, programs, target, options.second, options, used_knobs);
  for (const auto& [knob, value] : parse_knobs(options.knobs))
    if (!used_knobs.contains(knob)) throw UsageError("neither schedule has a knob '$" + knob + "'");
  const bool same = first.loops == second.loops;
  if (options.json) {
    print_json({{"schema", "ferry.diff/1"},
                {"same", same},
                {"target", target.text},
                {"first", {{"name", options.first}, {"schedule", first.schedule}, {"loops", first.loops}}},
                {"second", {{"name", options.second}, {"schedule", second.schedule}, {"loops", second.loops}}},
                {"diff", unified_diff(first.loops, second.loops, options.first, options.second)}});
  } else {
    const std::string text =
        unified_diff(first.loops, second.loops, options.first, options.second, 3, has_color(stdout));
    fwrite(text.data(), 1, text.size(), stdout);
  }
  return same ? kExitFine : kExitWrongResult;
}

}  // namespace

void add_diff(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("diff", "Show how two schedules of a kernel differ in their loops");
  command.add_option("kernel", options->kernel, "The kernel, or '-' for stdin")->type_name("K.tc")->required();
  command
      .add_option("schedule", options->first,
                  "A schedule: a file, 'default' for what ferry decides, 'none' for serial loops in the written order")
      ->type_name("SCHEDULE")
      ->required();
  command.add_option("other-schedule", options->second, "The schedule to hold against it")
      ->type_name("SCHEDULE")
      ->required();
  command.add_option("--fn", options->function, "The function to take, where there are several")->type_name("NAME");
  add_knob_option(command, options->knobs);
  command.add_option("--target", options->target, "What to compile for (default: this machine); see 'ferry targets'")
      ->type_name("TARGET");
  add_after_option(command, options->after, "Compare the loops after this pass (default: as lowered and simplified)");
  add_json_option(command, options->json);
  command.footer(
      "Exit codes: 0 the loops are the same; 1 they differ; 2 a mistake.\n\n"
      "Examples:\n"
      "  ferry diff mm.tc none mm.schedule\n"
      "  ferry diff mm.tc default mm.schedule --knob rows=8 --after vectorize");
  command.callback(
      [options, &chosen] { chosen = [options](const Compiler* compiler) { return run_diff(compiler, *options); }; });
}

}  // namespace ferry::cli
