#include "host/verify/probe_calls.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "host/verify/called_definition.h"

namespace ferry::verify {

namespace {

constexpr std::size_t kMostExactProbes = 2;
// Shares of elements other than 0 in the inputs of -1, 0 and 1: the fewer, the longer the sums that are exact.
constexpr double kShares[] = {0.5, 1.0 / 64};
// Number of elements by which a definition shows whether its results are exact, and whether it has results.
constexpr std::uint64_t kSampled = 16, kDefined = 200;

CallPlan with_one_wide(const CallPlan& plan, const std::vector<std::size_t>& inputs, std::size_t wide, double share,
                       std::uint64_t seed) {
  stats::Random random(seed);
  CallPlan changed = plan;
  // If there is no other input, the sums are of this one's elements.
  const double wide_share = inputs.size() == 1 ? 2 * share : 1;
  for (const std::size_t p : inputs) {
    const auto count = static_cast<std::uint64_t>(plan.places[p]);
    set_contents(changed, p,
                 p == wide ? draw_integers(plan.dtypes[p], count, wide_share, random.next())
                           : draw_signs(plan.dtypes[p], count, share, random.next()));
  }
  return changed;
}

// Evaluates all elements of each output of floats, or so many at random. Throws CompileError if it is not defined for
// these inputs.
std::vector<std::vector<lang::Element>> evaluate_some(const Definition& definition, const CallPlan& plan,
                                                      stats::Random& random, std::uint64_t count) {
  const CalledDefinition called(definition.program, definition.info, plan, lang::RoundingBound::exact);
  std::vector<std::vector<lang::Element>> found;
  for (std::size_t p = 0; p < definition.info.parameters.size(); ++p) {
    const ParameterInfo& output = definition.info.parameters[p];
    if (output.direction == Direction::in || !is_float(output.dtype)) continue;
    const std::uint64_t elements = called.reference().elements(p);
    std::vector<std::uint64_t> positions(static_cast<std::size_t>(std::min(elements, count)));
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = elements > count ? random.below(elements) : i;
    found.push_back(called.reference().evaluate(p, positions));
  }
  return found;
}

// Whether at least half of the elements of an output are exact, and not all of these are 0.
bool are_exact(const std::vector<lang::Element>& elements) {
  const auto is_exact = [](const lang::Element& one) { return one.error == 0; };
  const bool have_value =
      std::ranges::any_of(elements, [&](const lang::Element& one) { return is_exact(one) && one.real != 0; });
  return have_value && 2 * static_cast<std::size_t>(std::ranges::count_if(elements, is_exact)) >= elements.size();
}

std::string exact_text(const FunctionInfo& info, const CallPlan& plan, const std::vector<std::size_t>& inputs,
                       std::size_t wide) {
  std::string text = info.parameters[wide].name + ": odd integers of " +
                     std::to_string(bits_of_integers(plan.dtypes[wide])) + " bits",
              others;
  for (const std::size_t p : inputs)
    if (p != wide) others += (others.empty() ? "" : ", ") + info.parameters[p].name;
  return others.empty() ? text : text + "; " + others + ": -1, 0, 1";
}

// Gives all inputs but these the contents of the plan again. Returns whether one of these has other contents.
bool keep_others(const CallPlan& plan, const std::vector<std::size_t>& inputs, CallPlan& changed) {
  bool is_changed = false;
  for (std::size_t p = 0; p < plan.contents.size(); ++p) {
    if (std::ranges::find(inputs, p) == inputs.end())
      changed.contents[p] = plan.contents[p];
    else
      is_changed = is_changed || !changed.contents[p].bytes.empty();
  }
  return is_changed;
}

}  // namespace

std::vector<std::size_t> free_floats(const FunctionInfo& info, const CallPlan& plan) {
  std::vector<std::size_t> inputs;
  for (std::size_t p = 0; p < info.parameters.size(); ++p)
    if (is_float(plan.dtypes[p]) && is_free_input(info, plan, p)) inputs.push_back(p);
  return inputs;
}

std::vector<std::size_t> varying_floats(const FunctionInfo& info, const CallPlan& plan) {
  std::vector<std::size_t> inputs = free_floats(info, plan);
  std::erase_if(inputs, [&](std::size_t p) { return info.parameters[p].is_constant; });
  return inputs;
}

std::uint64_t tensor_bytes(const CallPlan& plan) {
  std::uint64_t bytes = 0;
  for (std::size_t p = 0; p < plan.shapes.size(); ++p)
    if (!plan.scalars[p]) bytes += plan.bytes(p);
  return bytes;
}

std::vector<std::size_t> widest(const CallPlan& plan, std::vector<std::size_t> inputs) {
  std::ranges::stable_sort(inputs, std::greater(), [&](std::size_t p) { return plan.places[p]; });
  inputs.resize(std::min(inputs.size(), kMostExactProbes));
  return inputs;
}

std::optional<ProbeCall> ProbePlanner::exact_sums(const std::vector<std::size_t>& inputs, std::size_t wide) {
  for (const double share : kShares) {
    CallPlan changed = with_one_wide(plan_, inputs, wide, share, random_.next());
    if (is_exact(changed)) return ProbeCall{exact_text(info_, plan_, inputs, wide), std::move(changed)};
  }
  return std::nullopt;
}

std::optional<ProbeCall> ProbePlanner::adversarial(AdversarialSet set) {
  std::optional<CallPlan> changed = adversarial_call(info_, plan_, set, random_);
  if (!changed) return std::nullopt;
  return ProbeCall{to_text(set), std::move(*changed), lang::RoundingBound::exact, set == AdversarialSet::not_finite};
}

bool ProbePlanner::is_exact(const CallPlan& changed) {
  try {
    return std::ranges::any_of(definitions_, [&](const Definition& definition) {
      return std::ranges::any_of(evaluate_some(definition, plan_of(definition, info_, changed), random_, kSampled),
                                 are_exact);
    });
  } catch (const CompileError&) {
    return false;  // not defined for these inputs
  }
}

bool ProbePlanner::is_defined(const CallPlan& changed) {
  try {
    for (const Definition& definition : definitions_)
      evaluate_some(definition, plan_of(definition, info_, changed), random_, kDefined);
    return true;
  } catch (const CompileError&) {
    return false;
  }
}

std::vector<ProbeCall> probe_calls(const FunctionInfo& info, const CallPlan& plan,
                                   const std::vector<Definition>& definitions, const CheckLimits& limits, bool thorough,
                                   std::uint64_t seed, std::uint64_t most_bytes) {
  ProbePlanner planner(info, plan, definitions, seed);
  const std::vector<std::size_t> inputs = varying_floats(info, plan);
  std::vector<std::function<std::optional<ProbeCall>()>> kinds;
  if (!limits.rtol && !limits.atol && !limits.other_algorithm)
    for (const std::size_t p : widest(plan, inputs))
      kinds.emplace_back([&planner, &inputs, p] { return planner.exact_sums(inputs, p); });
  for (const AdversarialSet set : kAdversarialSets)
    if (thorough) kinds.emplace_back([&planner, set] { return planner.adversarial(set); });
  std::vector<ProbeCall> calls;
  const std::uint64_t bytes = tensor_bytes(plan);
  while (!kinds.empty() && !definitions.empty() && (calls.size() + 1) * bytes <= most_bytes) {
    const auto next = kinds.begin() + static_cast<std::ptrdiff_t>(planner.random().below(kinds.size()));
    std::optional<ProbeCall> call = (*next)();
    kinds.erase(next);
    if (call && keep_others(plan, inputs, call->plan)) calls.push_back(std::move(*call));
  }
  return calls;
}

std::vector<CheckResult> check_probe(const FunctionInfo& info, const std::vector<Definition>& definitions,
                                     const ProbeCall& call, const Outputs& outputs, const CheckLimits& limits,
                                     const CheckEffort& effort) {
  CheckEffort known = effort;
  known.knows_nan = call.knows_nan;
  std::vector<CheckResult> checks;
  for (const Definition& definition : definitions) {
    const CallPlan plan = plan_of(definition, info, call.plan);
    const CalledDefinition called(definition, plan, call.bound);
    std::ranges::move(check_outputs(called, definition.info, in_order_of(definition, outputs), limits, known),
                      std::back_inserter(checks));
  }
  return checks;
}

}  // namespace ferry::verify
