#include "host/kernel/tuned_call.h"

#include "host/kernel/call_plan.h"
#include "host/kernel/size_hints.h"

namespace ferry {

namespace {

// Whether nothing is chosen yet.
bool is_open(const TextKernel& kernel) {
  const bool has_values = kernel.point || (kernel.schedule && !kernel.schedule->knobs.empty());
  return kernel.tuned != nullptr && !kernel.unscheduled && !has_values;
}

SizesByName sizes_of(const KernelSource& source, const lang::Program& program, const CallOptions& call) {
  const FunctionInfo info = source.compiler->describe(program);
  SizesByName sizes = size_hints(program, call);
  if (sizes.size() == info.symbols.size()) return sizes;
  // Some are in files, which are read for it.
  const CallPlan plan = plan_call(info, call, input_range(source));
  for (std::size_t s = 0; s < info.symbols.size(); ++s) sizes[info.symbols[s]] = plan.symbols[s];
  return sizes;
}

}  // namespace

bool take_tuned(const Compiler& compiler, TextKernel& kernel, const lang::Program& program, const SizesByName& sizes,
                const Target& target, const Observer& observer) {
  if (!is_open(kernel)) return false;
  const std::shared_ptr<const TunedSchedules> tuned = kernel.tuned;
  std::optional<TunedSchedule> found =
      tuned->find(program, sizes, target, kernel.schedule ? &*kernel.schedule : nullptr);
  if (!found) return false;
  if (kernel.schedule) {
    std::size_t next = 0;
    for (const auto& [knob, choices] : compiler.knobs_of(*kernel.schedule))
      kernel.schedule->knobs[knob] = found->values.at(next++);
  } else {
    kernel.point = PointText{.text = {}, .name = "the record of " + program.name, .in_order = std::move(found->values)};
  }
  observer.tell(program.name + ": " + found->note);
  return true;
}

TunedCall tuned_for(const KernelSource& source, const std::string& function, const Target& target,
                    const CallOptions& call, const Observer& observer) {
  TunedCall tuned{source, call};
  TextKernel* text = tuned.source.as_text();
  if (text == nullptr || source.compiler == nullptr || !is_open(*text)) return tuned;
  const lang::Program program = choose_program(source, function);
  const SizesByName sizes = sizes_of(source, program, call);
  if (!sizes.empty()) {
    KernelSource fixed = with_fixed_sizes(source, sizes);
    const lang::Program of_fixed = choose_program(fixed, function);
    if (take_tuned(*source.compiler, *fixed.as_text(), of_fixed, {}, target, observer)) {
      tuned.source = std::move(fixed);
      tuned.call.sizes.clear();
      return tuned;
    }
  }
  take_tuned(*source.compiler, *text, program, sizes, target, observer);
  return tuned;
}

}  // namespace ferry
