#include "host/kernel/tuned_functions.h"

#include <algorithm>
#include <utility>

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "host/kernel/call_plan.h"
#include "host/kernel/size_hints.h"

namespace ferry {

namespace {

// Returns those of the sizes that the program has, and whether these are all of them.
std::pair<SizesByName, bool> sizes_in(const lang::Program& program, const SizesByName& sizes) {
  SizesByName own;
  const std::vector<lang::Expr> symbols = lang::symbols_of(program);
  for (const lang::Expr& symbol : symbols)
    if (const auto size = sizes.find(symbol.as<ir::Var>()->name); size != sizes.end()) own.insert(*size);
  return {own, own.size() == symbols.size()};
}

// Returns the program with these sizes fixed. Nothing if they cannot be, or if one is also a number that a call passes.
std::optional<lang::Program> fixed_program(const KernelSource& source, const lang::Program& program,
                                           const SizesByName& sizes) {
  try {
    lang::Program fixed = choose_program(with_fixed_sizes(source, sizes), program.name);
    const auto is_alike = [](const lang::Parameter& a, const lang::Parameter& b) { return a.kind == b.kind; };
    if (lang::symbols_of(fixed).empty() && std::ranges::equal(fixed.parameters, program.parameters, is_alike))
      return fixed;
  } catch (const CompileError&) {
    // No call has these sizes, which its own check says.
  }
  return std::nullopt;
}

}  // namespace

bool takes_tuned(const KernelSource& source) {
  const TextKernel* text = source.as_text();
  return text != nullptr && source.tuned != nullptr && !text->unscheduled && !text->point &&
         (!text->schedule || text->schedule->knobs.empty());
}

std::vector<TunedFunction> tuned_functions(const KernelSource& source, std::span<const lang::Program> programs,
                                           const SizesByName& sizes, const Target& target, const Observer& observer) {
  std::vector<TunedFunction> all;
  if (!takes_tuned(source)) return all;
  const TextKernel& text = *source.as_text();
  const ScheduleText* schedule = text.schedule ? &*text.schedule : nullptr;
  const auto add = [&](TunedFunction tuned, const lang::Program& program, const SizesByName& open) {
    std::optional<TunedSchedule> found = source.tuned->find(program, open, target, schedule, {});
    if (!found) return;
    tuned.schedule = *std::move(found);
    observer.tell(program.name + ": " + tuned.schedule.note);
    all.push_back(std::move(tuned));
  };
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const auto [own, is_all] = sizes_in(programs[p], sizes);
    if (is_all && !own.empty())
      if (std::optional<lang::Program> fixed = fixed_program(source, programs[p], own))
        add({.program = p, .fixed = fixed, .sizes = own}, *fixed, {});
    if (is_all) add({.program = p}, programs[p], own);
  }
  return all;
}

SizesByName sizes_of_call(const KernelSource& source, const lang::Program& program, const CallOptions& call) {
  SizesByName sizes = size_hints(program, call);
  if (sizes_in(program, sizes).second) return sizes;
  const FunctionInfo info = source.compiler->describe(program);
  const CallPlan plan = plan_call(info, call, input_range(source));
  for (std::size_t s = 0; s < info.symbols.size(); ++s) sizes[info.symbols[s]] = plan.symbols[s];
  return sizes;
}

}  // namespace ferry
