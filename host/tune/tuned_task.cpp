#include "host/tune/tuned_task.h"

#include "crosscompile/ir/error.h"
#include "host/kernel/compile_kernel.h"
#include "host/tune/task/device_key.h"
#include "host/tune/task/program_hash.h"

namespace ferry::tune {

namespace {

Scheduled scheduled_at(const TunedTask& task, PointText point) {
  const lang::Program& program = choose_program(task.source, task.function);
  Scheduled all = scheduled(task.source, std::span(&program, 1), task.open_sizes);
  if (!point.text.empty() || !point.in_order.empty()) all.point = std::move(point);
  return all;
}

}  // namespace

ModuleBytes TunedTask::compile(const PointInOrder& point) const {
  return source.compiler->compile({scheduled_at(*this, {.in_order = point}), target, source.text}).module;
}

std::optional<SpacePoint> TunedTask::space_at(PointText point) const {
  try {
    return source.compiler->space_at(scheduled_at(*this, std::move(point)), target);
  } catch (const CompileError&) {
    return std::nullopt;
  }
}

KernelSource TunedTask::at(const PointInOrder& point) const {
  KernelSource kernel = source;
  if (!point.empty()) kernel.as_text()->point = PointText{.in_order = point};
  return kernel;
}

TunedTask task_of(const TunedKernel& kernel, const Target& target, const TuneOptions& options) {
  const TextKernel* text = kernel.source.as_text();
  if (text == nullptr)
    throw UsageError(kernel.source.name + ": expected a kernel in ferry's own notation, whose schedule can be chosen");
  if (text->schedule || text->unscheduled || text->point)
    throw OptionError(Option::schedule, "expected no schedule: what is tuned is the default one");
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
  SizesByName known;
  for (std::size_t s = 0; s < info.symbols.size(); ++s) known[info.symbols[s]] = plan.symbols[s];
  task.sizes.insert(known.begin(), known.end());
  if (options.open_sizes) {
    task.open_sizes = known;
  } else {
    task.source = with_fixed_sizes(kernel.source, known);
    task.call.sizes.clear();  // the code has them
  }
  for (const auto& [name, size] : task.sizes)
    if (!task.open_sizes.contains(name)) task.fixed.push_back(name);
  task.key = {program_hash(choose_program(task.source, task.function), task.open_sizes), std::nullopt,
              device_key(target, options.threads)};
  return task;
}

}  // namespace ferry::tune
