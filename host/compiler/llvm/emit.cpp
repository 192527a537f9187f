#include "host/compiler/llvm/emit.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "crosscompile/compile.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/gpu_loops.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/make_backend.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/target/resolve.h"
#include "ferry/schedule/module_schedule.h"
#include "host/compiler/llvm/scheduled_programs.h"
#include "host/compiler/llvm/space.h"
#include "host/lang/names.h"
#include "host/lower/lower.h"

namespace ferry {

namespace {

constexpr const char* kAsLowered = "lower";

// `observe` is called as by run_pipeline(), if that runs.
std::string loops_text(std::span<const ir::Function> functions, const Target& target, const std::string& after,
                       const passes::AfterPass& observe) {
  if (!after.empty()) {
    std::vector<std::string> names = {kAsLowered};
    for (const passes::Pass& pass : passes::pipeline()) names.emplace_back(pass.name);
    expect_pass(after, names);
  }
  std::string text;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (!text.empty()) text += "\n";
    if (after.empty()) {
      text += ir::to_text(passes::simplify(functions[i]));
    } else if (after == kAsLowered) {
      text += ir::to_text(functions[i]);
    } else {
      passes::run_pipeline(functions[i], target, [&](std::string_view pass, const ir::Function& now) {
        if (observe) observe(i, pass, now);
        if (pass == after) text += ir::to_text(now);
      });
    }
  }
  return text;
}

// Returns the target of a text in this language, or one that is like `target` in the hints for schedules.
Target source_target(const std::string& language, const Target& target) {
  if (target.arch_name == language) return target;
  return language == "c" ? c_target_like(target) : resolve_target(language);
}

std::vector<std::string> notes_on_threads(std::span<const ir::Function> functions) {
  std::vector<std::string> notes;
  for (const ir::Function& function : functions) {
    if (ir::has_gpu_loops(function.body)) continue;
    notes.push_back(function.name +
                    ": nothing is bound to blocks or threads, so one thread of one block computes all of it");
  }
  return notes;
}

Emission backend_text(TextForm form, std::span<const ir::Function> lowered, const Target& target,
                      const passes::AfterPass& observe) {
  const std::unique_ptr<Backend> backend = make_backend(target);
  if (!backend->has_text(form)) throw CompileError("expected a target with machine code, got '" + target.text + "'");
  return {.text = backend->text(form, lowered, observe),
          .extension = form == TextForm::source ? backend->source_extension() : ""};
}

Emission gpu_text(TextForm form, std::span<const ir::Function> lowered, const Target& target,
                  const passes::AfterPass& observe) {
  Emission emission = backend_text(form, lowered, target, observe);
  emission.notes = notes_on_threads(lowered);
  return emission;
}

Emission object_of(const CompileRequest& request, const std::vector<schedule::Schedule>& schedules,
                   std::span<const ir::Function> lowered, const passes::AfterPass& observe) {
  const Bytes object = compile_object(lowered, request.target,
                                      {.source = request.source,
                                       .schedule = autoschedule::to_text(request.scheduled.programs, schedules),
                                       .after = observe});
  return {.text = std::string(object.begin(), object.end()), .extension = ".o"};
}

}  // namespace

void expect_pass(const std::string& name, const std::vector<std::string>& names) {
  if (std::ranges::find(names, name) != names.end()) return;
  throw CompileError("there is no pass '" + name + "'; expected one of: " + join(", ", names) +
                     lang::suggestion(name, names));
}

Emission emit_functions(Stage stage, std::span<const ir::Function> lowered, const Target& target,
                        const std::string& after, const passes::AfterPass& observe) {
  // Passes for another target say nothing about this one.
  const auto source_text = [&](TextForm form, const std::string& language, auto emit_text) {
    const bool is_own = target.arch_name == language;
    return emit_text(form, lowered, source_target(language, target), is_own ? observe : passes::AfterPass());
  };
  switch (stage) {
    case Stage::graph:
    case Stage::groups:
    case Stage::schedule:
    case Stage::space:
    case Stage::point:
    case Stage::plan:
    case Stage::object: break;
    case Stage::loops: return {.text = loops_text(lowered, target, after, observe)};
    case Stage::c: return source_text(TextForm::source, "c", backend_text);
    case Stage::opencl: return source_text(TextForm::source, "opencl", gpu_text);
    case Stage::cuda: return source_text(TextForm::source, "cuda", gpu_text);
    case Stage::ptx: return source_text(TextForm::ptx, "cuda", gpu_text);
    case Stage::llvm: return backend_text(TextForm::llvm, lowered, target, observe);
    case Stage::assembly: return backend_text(TextForm::assembly, lowered, target, observe);
  }
  throw InternalError("emit: a stage before the loops, or an object");
}

Emission emit_stage(Stage stage, const CompileRequest& request, const std::string& after) {
  const Scheduled& scheduled = request.scheduled;
  if (stage == Stage::space || stage == Stage::point) {
    const std::vector<FunctionSpace> spaces = spaces_of(scheduled, request.target);
    if (stage == Stage::point) return {.text = points_text(spaces), .json = points_json(spaces)};
    return {.text = space_text(spaces), .json = space_json(spaces)};
  }
  // Nothing calls code for some sizes in what has no plan.
  const bool has_plan = stage != Stage::object && stage != Stage::c;
  const ScheduledPrograms all = scheduled_programs(scheduled, request.target, has_plan);
  const auto& [programs, schedules, sized] = all;
  std::vector<ir::Function> lowered;
  try {
    if (stage != Stage::schedule || scheduled.schedule) lowered = lower::lower_module(programs, schedules);
  } catch (const CompileError&) {
    if (stage != Stage::schedule) throw;  // a schedule is shown even where it cannot be carried out
  }
  ScheduleNotes notes(scheduled, schedules, lowered, request.target);
  const passes::AfterPass observe = [&](std::size_t function, std::string_view pass, const ir::Function& now) {
    notes.after(function, pass, now);
  };
  Emission emission = stage == Stage::schedule ? Emission{.text = schedule_text(all)}
                      : stage == Stage::object ? object_of(request, schedules, lowered, observe)
                                               : emit_functions(stage, lowered, request.target, after, observe);
  notes.run_passes(lowered, request.target);
  std::vector<std::string> texts = notes.texts();
  emission.notes.insert(emission.notes.begin(), texts.begin(), texts.end());
  return emission;
}

}  // namespace ferry
