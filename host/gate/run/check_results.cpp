#include "host/gate/run/check_results.h"

#include "base/quantity_text.h"
#include "host/measure/call_tensors.h"
#include "host/measure/checks_between.h"
#include "host/measure/sampling.h"
#include "host/measure/side_outputs.h"
#include "host/verify/called_definition.h"
#include "host/verify/check_outputs.h"
#include "host/verify/controls.h"

namespace ferry::gate {

namespace {

const char* module_name(Side side) { return side == Side::baseline ? "the baseline" : "the current module"; }

bench::SideOutputs outputs_of(const OpenSession& open, const RunSettings& measured, const MeasuredSide& side,
                              Side which, const bench::SideChecks& checks, const Observer& observer) {
  return run_side(which, [&] { return bench::outputs_of_side(open, measured, side, checks, observer); });
}

// Returns how the current side is probed; the baseline has the same definition, whose parameters are the current
// side's.
bench::SideChecks checks_of(const MeasuredSide& current, const KernelSource& source, const SuiteCase& suite_case) {
  bench::SideChecks checks{.guards_tensors = may_leave_tensors(source), .warns = true};
  if (has_definition(source))
    checks.definitions =
        verify::definitions_of(program_of(source, current.info.name), current.info, {}, source.compiler);
  checks.probing.limits = {suite_case.results.rtol, suite_case.results.atol};
  checks.probing.seed = suite_case.call.seed;
  checks.probing.thorough = suite_case.thorough;
  return checks;
}

// Returns the outputs of the baseline in the order of the current side's parameters.
verify::Outputs in_order_of_current(const verify::Outputs& baseline, const MeasuredSide& current,
                                    const verify::ParameterPairs& pairs) {
  verify::Outputs ordered(current.info.parameters.size());
  for (const auto& [current_parameter, baseline_parameter] : pairs) {
    ordered[current_parameter] = baseline[baseline_parameter];
  }
  return ordered;
}

// Returns how results, in the order of the current side's parameters, differ from the definition; empty if they do not.
// `controls` are those of the other side, or null.
std::string mistake_in(const verify::Outputs& outputs, std::vector<verify::Probe> probes, Side side,
                       const MeasuredSide& current, const verify::CalledDefinition& called,
                       const verify::CheckLimits& limits, const verify::ControlOutputs* controls,
                       std::vector<std::string>& warnings) {
  verify::Findings findings{verify::check_outputs(called, current.info, outputs, limits, {}, controls), {}};
  findings.probes = std::move(probes);
  for (const verify::CheckResult& check : findings.checks)
    if (check.unchecked > 0)
      warnings.push_back(count_text(check.unchecked) + " elements of " + check.output + " of " + module_name(side) +
                         " are not checked: their terms may overflow in another order");
  return findings.is_fine() ? "" : std::string(module_name(side)) + " computes something else: " + findings.mistake();
}

// Says what both sides are held against while they are timed.
void judge_timed_calls(PerSide<MeasuredSide>& sides, const bench::SideChecks& current_checks,
                       const bench::SideChecks& baseline_checks, const verify::ParameterPairs& pairs,
                       const bench::SamplingOptions& sampling) {
  MeasuredSide &current = sides[Side::current], &baseline = sides[Side::baseline];
  bench::SideDefinition of_current{current_checks.definitions, current_checks.probing.limits};
  bench::SideDefinition of_baseline{baseline_checks.definitions, baseline_checks.probing.limits};
  bench::add_calls_between(current, of_current, baseline, of_baseline, pairs, current_checks.probing.thorough,
                           bench::secret_for(sampling));
  current.definition = std::make_shared<const bench::SideDefinition>(std::move(of_current));
  baseline.definition = std::make_shared<const bench::SideDefinition>(std::move(of_baseline));
}

}  // namespace

std::string difference_of(const OpenSession& open, const RunSettings& measured, PerSide<MeasuredSide>& sides,
                          const verify::ParameterPairs& pairs, const KernelSource& source, const SuiteCase& suite_case,
                          const Observer& observer, std::vector<std::string>& warnings) {
  const MeasuredSide& current = sides[Side::current];
  const bench::SideChecks checks = checks_of(current, source, suite_case);
  bench::SideChecks baseline_checks = checks;
  baseline_checks.warns = false;
  for (verify::Definition& definition : baseline_checks.definitions)
    for (const auto& [current_parameter, baseline_parameter] : pairs)
      definition.pairs.emplace_back(baseline_parameter, current_parameter);
  const verify::CheckLimits& limits = checks.probing.limits;
  baseline_checks.rounds_inputs = !checks.definitions.empty() && verify::are_judged_as_a_whole(limits);
  bench::SideOutputs of_baseline =
      outputs_of(open, measured, sides[Side::baseline], Side::baseline, baseline_checks, observer);
  bench::SideOutputs of_current = outputs_of(open, measured, current, Side::current, checks, observer);
  sides[Side::baseline].results = std::make_shared<const verify::Outputs>(std::move(of_baseline.outputs));
  sides[Side::current].results = std::make_shared<const verify::Outputs>(std::move(of_current.outputs));
  warnings = std::move(of_current.warnings);
  const verify::Outputs &baseline_outputs = *sides[Side::baseline].results,
                        &current_outputs = *sides[Side::current].results;
  if (!has_definition(source)) {
    const std::string difference = verify::difference_text(verify::compare_all_outputs(
        current.info, current.plan, current_outputs, baseline_outputs, pairs, suite_case.results));
    return difference.empty() ? "" : "the results differ: " + difference;
  }
  // The errors of the current side as a whole are judged by those of the baseline.
  const verify::Outputs in_order = in_order_of_current(baseline_outputs, current, pairs);
  std::optional<verify::ControlOutputs> controls;
  if (!of_baseline.rounded.empty()) controls = {in_order, in_order_of_current(of_baseline.rounded, current, pairs)};
  const verify::CalledDefinition called(checks.definitions.front(), current.plan,
                                        verify::bound_of(current.info, current.plan));
  const std::string mistake = mistake_in(current_outputs, std::move(of_current.probes), Side::current, current, called,
                                         limits, controls ? &*controls : nullptr, warnings);
  if (!mistake.empty()) return mistake;
  judge_timed_calls(sides, checks, baseline_checks, pairs, measured.sampling);
  return mistake_in(in_order, std::move(of_baseline.probes), Side::baseline, current, called, limits, nullptr,
                    warnings);
}

std::string mistake_of(const OpenSession& open, const RunSettings& measured, const MeasuredSide& current,
                       const KernelSource& source, const SuiteCase& suite_case, const Observer& observer,
                       std::vector<std::string>& warnings) {
  const bench::SideChecks checks = checks_of(current, source, suite_case);
  bench::SideOutputs found = outputs_of(open, measured, current, Side::current, checks, observer);
  warnings = std::move(found.warnings);
  const verify::CalledDefinition called(checks.definitions.front(), current.plan,
                                        verify::bound_of(current.info, current.plan));
  return mistake_in(found.outputs, std::move(found.probes), Side::current, current, called, checks.probing.limits,
                    nullptr, warnings);
}

void call_once(const OpenSession& open, const RunSettings& measured, const MeasuredSide& side, Side which,
               const KernelSource& source, const Observer& observer, std::vector<std::string>* warnings) {
  bench::SideOutputs found =
      outputs_of(open, measured, side, which,
                 {.guards_tensors = may_leave_tensors(source), .warns = warnings != nullptr}, observer);
  if (warnings != nullptr) *warnings = std::move(found.warnings);
}

}  // namespace ferry::gate
