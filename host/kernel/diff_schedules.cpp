#include "host/kernel/diff_schedules.h"

#include <set>

#include "ferry/kernel/option_error.h"
#include "host/kernel/file.h"
#include "host/kernel/notes.h"

namespace ferry {

namespace {

using Knobs = std::map<std::string, std::string>;

constexpr const char* kPointNames[2] = {"the first point", "the second point"};

// Returns the kernel with the named schedule, and adds the names of its knobs to `used`.
KernelSource with_schedule(KernelSource source, const std::string& name, const Knobs& knobs, const Knobs& own,
                           std::set<std::string>& used) {
  auto& kernel = std::get<TextKernel>(source.kind);
  kernel.schedule.reset();
  kernel.unscheduled = name == kUnscheduled;
  if (name == kUnscheduled || name == kDefaultSchedule) {
    if (own.empty()) return source;
    throw OptionError(Option::knob, own.begin()->first + "=" + own.begin()->second +
                                        ": expected a schedule of your own with this knob, got '" + name + "'");
  }
  kernel.schedule = ScheduleText{read_file(name), {}, name};
  const auto known = source.compiler->knobs_of(*kernel.schedule);
  for (const auto& [knob, value] : knobs) {
    if (!known.contains(knob)) continue;
    kernel.schedule->knobs[knob] = value;
    used.insert(knob);
  }
  for (const auto& [knob, value] : own) {
    if (!known.contains(knob))
      throw OptionError(Option::knob, knob + "=" + value + ": " + name + " has no knob '$" + knob + "'");
    kernel.schedule->knobs[knob] = value;
    used.insert(knob);
  }
  return source;
}

}  // namespace

ScheduleDiff diff_schedules(const Compiler& compiler, const DiffRequest& request, const Observer& observer) {
  if (is_foreign(request.kernel))
    throw UsageError(request.kernel +
                     " is computed as it says: expected a kernel in ferry's own notation, which schedules are for");
  KernelOptions kernel;
  kernel.file = request.kernel;
  const KernelSource source = read_kernel(&compiler, kernel, observer);
  if (source.as_module()) throw UsageError(source.name + " is compiled already: expected a kernel's text");
  if (source.as_network()) throw UsageError(source.name + " is a network: expected a kernel's text");
  std::vector<lang::Program> programs = std::get<TextKernel>(source.kind).programs;
  if (!request.function.empty()) programs = {choose_program(source, request.function)};
  const Target target = resolve_with_notes(compiler, request.target.empty() ? "host" : request.target, observer);
  const Knobs knobs = parse_knobs(request.knobs);
  std::set<std::string> used;
  KernelSource sides[2];
  for (int s = 0; s < 2; ++s) {
    sides[s] = with_schedule(source, request.schedules[s], knobs, parse_knobs(request.own_knobs[s]), used);
    ScheduleOptions chosen;
    chosen.file = request.schedules[s];
    chosen.points = request.points[s];
    chosen.point_name = kPointNames[s];
    std::get<TextKernel>(sides[s].kind).point = read_point(chosen);
  }
  for (const auto& [knob, value] : knobs)
    if (!used.contains(knob))
      throw OptionError(Option::knob, knob + "=" + value + ": neither schedule has a knob '$" + knob + "'");
  ScheduleDiff diff{target.text, {}, {}};
  for (int s = 0; s < 2; ++s) {
    const Scheduled chosen = scheduled(sides[s], programs);
    Emission loops = compiler.emit(Stage::loops, {chosen, target}, request.after);
    report_notes(loops.notes, observer);
    diff.schedules[s] = compiler.emit(Stage::schedule, {chosen, target}).text;
    diff.loops[s] = std::move(loops.text);
  }
  return diff;
}

}  // namespace ferry
