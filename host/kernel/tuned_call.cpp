#include "host/kernel/tuned_call.h"

#include "host/kernel/call_plan.h"
#include "host/kernel/size_hints.h"

namespace ferry {

namespace {

bool takes_tuned(const TextKernel& kernel) {
  return kernel.tuned != nullptr && !kernel.schedule && !kernel.unscheduled && !kernel.point;
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

std::optional<PointText> tuned_point(const TextKernel& kernel, const lang::Program& program, const SizesByName& sizes,
                                     const Target& target, const Observer& observer) {
  if (!takes_tuned(kernel)) return std::nullopt;
  std::optional<TunedSchedule> found = kernel.tuned->find(program, sizes, target);
  if (!found) return std::nullopt;
  observer.tell(program.name + ": " + found->note);
  return PointText{.text = {}, .name = "the record of " + program.name, .in_order = std::move(found->values)};
}

TunedCall tuned_for(const KernelSource& source, const std::string& function, const Target& target,
                    const CallOptions& call, const Observer& observer) {
  TunedCall tuned{source, call};
  const TextKernel* text = source.as_text();
  if (text == nullptr || source.compiler == nullptr || !takes_tuned(*text)) return tuned;
  const lang::Program& program = choose_program(source, function);
  const SizesByName sizes = sizes_of(source, program, call);
  if (!sizes.empty()) {
    KernelSource fixed = with_fixed_sizes(source, sizes);
    if (auto point = tuned_point(*fixed.as_text(), choose_program(fixed, function), {}, target, observer)) {
      fixed.as_text()->point = std::move(point);
      tuned.source = std::move(fixed);
      tuned.call.sizes.clear();
      return tuned;
    }
  }
  tuned.source.as_text()->point = tuned_point(*text, program, sizes, target, observer);
  return tuned;
}

}  // namespace ferry
