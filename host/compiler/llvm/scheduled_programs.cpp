#include "host/compiler/llvm/scheduled_programs.h"

#include "base/lines.h"
#include "crosscompile/ir/error.h"
#include "ferry/schedule/module_schedule.h"
#include "host/schedule/idle_threads.h"
#include "module/sized_variant.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ferry {

namespace {

std::vector<schedule::Schedule> untuned_schedules(const Scheduled& scheduled, const Target& target) {
  const std::span programs = scheduled.programs;
  if (scheduled.unscheduled) return {programs.begin(), programs.end()};
  if (scheduled.point)
    return autoschedule::schedules_at(programs, *scheduled.point, target, scheduled.others, scheduled.sizes);
  if (!scheduled.schedule) return autoschedule::default_schedules(programs, target, scheduled.sizes);
  return autoschedule::replay_module_schedule(programs, *scheduled.schedule, target, scheduled.others, scheduled.sizes);
}

schedule::Schedule tuned_schedule(const Scheduled& scheduled, const lang::Program& program, const SizesByName& sizes,
                                  const TunedSchedule& tuned, const Target& target) {
  const std::span one(&program, 1);
  if (!scheduled.schedule)
    return autoschedule::schedules_at(one, point_of(tuned, program), target, scheduled.others, sizes).front();
  ScheduleText text = *scheduled.schedule;
  std::map<std::string, std::string> values;
  for (const schedule::Knob& knob : autoschedule::knobs_of(text)) values[knob.name];
  std::size_t next = 0;
  for (auto& [name, value] : values) value = tuned.values.at(next++);
  text.knobs = std::move(values);
  return autoschedule::replay_module_schedule(one, text, target, scheduled.others, sizes).front();
}

}  // namespace

PointText point_of(const TunedSchedule& tuned, const lang::Program& program) {
  return {.text = {}, .name = "the record of " + program.name, .in_order = tuned.values};
}

std::string sized_name(const std::string& general, std::span<const lang::Program> programs) {
  std::string name = general + "_tuned";
  while (std::ranges::find(programs, name, &lang::Program::name) != programs.end()) name += "_";
  return name;
}

ScheduledPrograms scheduled_programs(const Scheduled& scheduled, const Target& target, bool with_sized) {
  ScheduledPrograms all{{scheduled.programs.begin(), scheduled.programs.end()}, untuned_schedules(scheduled, target)};
  for (const TunedFunction& tuned : scheduled.tuned) {
    const lang::Program& program = scheduled.programs[tuned.program];
    if (!tuned.fixed) {
      all.schedules[tuned.program] = tuned_schedule(scheduled, program, scheduled.sizes, tuned.schedule, target);
    } else if (with_sized) {
      all.schedules.push_back(tuned_schedule(scheduled, *tuned.fixed, {}, tuned.schedule, target));
      const std::string name = sized_name(program.name, all.programs);
      all.programs.push_back(*tuned.fixed);
      all.programs.back().name = name;
      all.sized.push_back({name, program.name, tuned.sizes});
    }
  }
  return all;
}

std::string schedule_text(const ScheduledPrograms& all) {
  const std::size_t asked = all.programs.size() - all.sized.size();
  const std::span programs(all.programs);
  const std::span schedules(all.schedules);
  std::string text = autoschedule::to_text(programs.first(asked), schedules.first(asked));
  if (all.sized.empty()) return text;
  const std::string sized = autoschedule::to_text(programs.subspan(asked), schedules.subspan(asked));
  text += "\n";
  for (const std::string_view line : lines_of(sized)) text += "# " + std::string(line) + "\n";
  return text;
}

void attach_sized(std::span<const SizedFunction> sized, Manifest& manifest) {
  for (const SizedFunction& one : sized) {
    const auto variant = std::ranges::find(manifest.functions, one.name, &FunctionInfo::name);
    const auto general = std::ranges::find(manifest.functions, one.general, &FunctionInfo::name);
    if (variant == manifest.functions.end() || general == manifest.functions.end())
      throw InternalError(one.name + ": expected a function of the module");
    std::vector<std::int64_t> sizes;
    for (const std::string& symbol : general->symbols) sizes.push_back(one.sizes.at(symbol));
    if (const Status status = attach_variant(*general, std::move(*variant), sizes); !status.is_ok())
      throw InternalError(status.message());
    manifest.functions.erase(variant);
  }
}

ScheduleNotes::ScheduleNotes(const Scheduled& scheduled, std::span<const schedule::Schedule> schedules,
                             std::span<const ir::Function> lowered, const Target& target) {
  if (!scheduled.schedule) return;
  for (std::size_t i = 0; i < scheduled.programs.size(); ++i)
    programs_.push_back({scheduled.programs[i].name, schedule::notes_on_idle_threads(schedules[i])});
  for (const ir::Function& function : lowered)
    functions_.push_back(
        {function.init_of.empty() ? function.name : function.init_of, passes::LostVectors(function, target)});
}

void ScheduleNotes::after(std::size_t function, std::string_view pass, const ir::Function& now) {
  if (!functions_.empty()) functions_.at(function).lost.after(pass, now);
}

void ScheduleNotes::run_passes(std::span<const ir::Function> lowered, const Target& target) {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    try {
      functions_[i].lost.run_passes(lowered[i], target);
    } catch (const CompileError&) {
      // Who compiles the function reports this error.
    }
  }
}

std::vector<std::string> ScheduleNotes::texts() const {
  std::vector<std::string> notes;
  for (const Program& program : programs_) {
    for (const std::string& note : program.idle) notes.push_back(program.name + ": " + note);
    for (const Function& function : functions_) {
      if (function.program != program.name) continue;
      for (const std::string& loop : function.lost.names())
        notes.push_back(program.name + ": the vectorized axis '" + loop +
                        "' runs one element after the other on this target: its iterations depend on each other, or "
                        "what is inside differs between them");
    }
  }
  return notes;
}

}  // namespace ferry
