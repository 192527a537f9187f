#include "host/tune/tuned_task.h"

#include <algorithm>

#include "crosscompile/ir/error.h"
#include "host/kernel/compile_kernel.h"
#include "host/tune/task/device_key.h"
#include "host/tune/task/program_hash.h"

namespace ferry::tune {

namespace {

// Returns the kernel as it is, or at the point of its default schedule.
Scheduled scheduled_at(const TunedTask& task, const KernelSource& kernel, PointText point) {
  const lang::Program& program = choose_program(kernel, task.function);
  Scheduled all = scheduled(kernel, std::span(&program, 1), task.open_sizes);
  if (!point.text.empty() || !point.in_order.empty()) all.point = std::move(point);
  return all;
}

std::optional<SpacePoint> default_space(const TunedTask& task, PointText point) {
  try {
    return task.source.compiler->space_at(scheduled_at(task, task.source, std::move(point)), task.target);
  } catch (const CompileError&) {
    return std::nullopt;
  }
}

// With one thread, what threads share out makes no difference that is worth a trial.
void hold_knobs_for_threads(SpacePoint& point) {
  for (PointKnob& knob : point.knobs) {
    if (!knob.is_for_threads) continue;
    knob.is_held = true;
    point.points /= knob.candidates.size();
  }
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// Returns the point of the user's own schedule at which `value_of` gives the value of a knob, or nothing for its first
// choice.
template <class ValueOf>
std::optional<SpacePoint> knob_space(const TunedTask& task, const ValueOf& value_of) {
  SpacePoint point{.text = {}, .knobs = {}, .points = 1, .schedule = task.source.as_text()->schedule->text};
  for (const auto& [name, choices] : task.knobs) {
    PointKnob& knob = point.knobs.emplace_back(PointKnob{.stage = "schedule", .name = name, .candidates = choices});
    knob.has_numbers = std::ranges::all_of(choices, is_number);
    if (const std::optional<std::string> value = value_of(point.knobs.size() - 1, knob)) {
      const auto choice = std::ranges::find(choices, *value);
      if (choice == choices.end()) return std::nullopt;
      knob.chosen = static_cast<std::size_t>(choice - choices.begin());
    }
    point.points *= choices.size();
    point.text += (point.text.empty() ? "" : ", ") + name + "=" + choices[knob.chosen];
  }
  return point;
}

// Throws where there is nothing to choose.
void expect_space(const TextKernel& kernel, const TunedTask& task) {
  if (kernel.unscheduled || kernel.point)
    throw OptionError(kernel.point ? Option::point : Option::schedule,
                      "expected no schedule, which is searched for, or one of your own with knobs");
  if (kernel.schedule && task.knobs.empty())
    throw OptionError(Option::schedule,
                      kernel.schedule->file + ": expected knobs, such as '$rows in {4,8}', to choose from");
}

}  // namespace

ModuleBytes TunedTask::compile(const PointInOrder& point) const {
  return source.compiler->compile({scheduled_at(*this, at(point), {}), target, source.text}).module;
}

std::optional<SpacePoint> TunedTask::space_at(const PointValues& values) const {
  if (knobs.empty()) {
    std::optional<SpacePoint> point = default_space(*this, {.text = text_of(values)});
    if (point && key.device.threads == 1) hold_knobs_for_threads(*point);
    return point;
  }
  return knob_space(*this, [&](std::size_t, const PointKnob& knob) {
    const auto value = values.find(knob_name(knob));
    return value == values.end() ? std::nullopt : std::optional(value->second);
  });
}

std::optional<SpacePoint> TunedTask::space_at(const PointInOrder& point) const {
  if (knobs.empty()) return default_space(*this, {.in_order = point});
  if (point.size() != knobs.size()) return std::nullopt;
  return knob_space(*this, [&](std::size_t number, const PointKnob&) { return std::optional(point[number]); });
}

std::optional<double> TunedTask::cycles_at(const SpacePoint& point) const {
  if (!open_sizes.empty()) return std::nullopt;
  const std::uint32_t threads = std::max(1U, key.device.threads);
  if (point.decided) return point.decided->estimated_cycles(threads);
  return source.compiler->estimated_cycles(scheduled_at(*this, at(values_in_order(point)), {}), target, threads);
}

std::optional<double> TunedTask::code_cycles_at(const SpacePoint& point) const {
  if (!open_sizes.empty()) return std::nullopt;
  const std::uint32_t threads = std::max(1U, key.device.threads);
  return source.compiler->code_cycles(scheduled_at(*this, at(values_in_order(point)), {}), target, threads);
}

KernelSource TunedTask::at(const PointInOrder& point) const {
  KernelSource kernel = source;
  if (point.empty()) return kernel;
  if (knobs.empty()) {
    kernel.as_text()->point = PointText{.in_order = point};
  } else {
    std::size_t next = 0;
    for (const auto& [name, choices] : knobs) kernel.as_text()->schedule->knobs[name] = point.at(next++);
  }
  return kernel;
}

TunedTask task_of(const TunedKernel& kernel, const Target& target, const TuneOptions& options) {
  const TextKernel* text = kernel.source.as_text();
  if (text == nullptr)
    throw UsageError(kernel.source.name + ": expected a kernel in ferry's own notation, whose schedule can be chosen");
  const Compiler& compiler = expect_compiler(kernel.source.compiler, "ferry tune");
  const lang::Program& program = choose_program(kernel.source, kernel.function);
  const FunctionInfo info = compiler.describe(program);
  const CallPlan plan = plan_call(info, options.call, input_range(kernel.source));
  TunedTask task{.source = kernel.source,
                 .function = program.name,
                 .target = target,
                 .call = options.call,
                 .sizes = text->fixed,
                 .open_sizes = {},
                 .key = {}};
  if (text->schedule) {
    task.knobs = compiler.knobs_of(*text->schedule);
    for (const auto& [name, value] : text->schedule->knobs) task.knobs[name] = {value};  // the user's choice
  }
  expect_space(*text, task);
  SizesByName known;
  for (std::size_t s = 0; s < info.symbols.size(); ++s) known[info.symbols[s]] = plan.symbols[s];
  task.sizes.insert(known.begin(), known.end());
  if (options.open_sizes) {
    task.open_sizes = known;
  } else {
    if (!known.empty()) task.source = with_fixed_sizes(kernel.source, known);
    task.call.sizes.clear();  // the code has them
  }
  for (const auto& [name, size] : task.sizes)
    if (!task.open_sizes.contains(name)) task.fixed.push_back(name);
  task.key = {program_hash(choose_program(task.source, task.function), task.open_sizes),
              text->schedule ? std::optional(schedule_hash(*text->schedule)) : std::nullopt,
              device_key(target, options.threads)};
  return task;
}

}  // namespace ferry::tune
