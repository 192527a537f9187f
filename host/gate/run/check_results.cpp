#include "host/gate/run/check_results.h"

#include "base/quantity_text.h"
#include "host/measure/side_outputs.h"
#include "host/verify/check_outputs.h"

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
std::string mistake_in(const verify::Outputs& outputs, std::vector<verify::Probe> probes, Side side,
                       const MeasuredSide& current, const verify::Definition& definition, const SuiteCase& suite_case,
                       std::vector<std::string>& warnings) {
  const verify::CheckLimits limits{suite_case.results.rtol, suite_case.results.atol};
  const verify::CalledDefinition called(definition.program, current.info, current.plan,
                                        verify::bound_of(current.info, current.plan), definition.native.get());
  verify::Findings findings{verify::check_outputs(called, current.info, outputs, limits), {}};
  findings.probes = std::move(probes);
  for (const verify::CheckResult& check : findings.checks)
    if (check.unchecked > 0)
      warnings.push_back(count_text(check.unchecked) + " elements of " + check.output + " of " + module_name(side) +
                         " are not checked: their terms may overflow in another order");
  return findings.is_fine() ? "" : std::string(module_name(side)) + " computes something else: " + findings.mistake();
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
  const std::string mistake = mistake_in(current_outputs, std::move(of_current.probes), Side::current, current,
                                         checks.definitions.front(), suite_case, warnings);
  if (!mistake.empty()) return mistake;
  return mistake_in(in_order_of_current(baseline_outputs, current, pairs), std::move(of_baseline.probes),
                    Side::baseline, current, checks.definitions.front(), suite_case, warnings);
}

std::string mistake_of(const OpenSession& open, const RunSettings& measured, const MeasuredSide& current,
                       const KernelSource& source, const SuiteCase& suite_case, const Observer& observer,
                       std::vector<std::string>& warnings) {
  const bench::SideChecks checks = checks_of(current, source, suite_case);
  bench::SideOutputs found = outputs_of(open, measured, current, Side::current, checks, observer);
  warnings = std::move(found.warnings);
  return mistake_in(found.outputs, std::move(found.probes), Side::current, current, checks.definitions.front(),
                    suite_case, warnings);
}

void call_once(const OpenSession& open, const RunSettings& measured, const MeasuredSide& side, Side which,
               const KernelSource& source, const Observer& observer, std::vector<std::string>* warnings) {
  bench::SideOutputs found =
      outputs_of(open, measured, side, which,
                 {.guards_tensors = may_leave_tensors(source), .warns = warnings != nullptr}, observer);
  if (warnings != nullptr) *warnings = std::move(found.warnings);
}

}  // namespace ferry::gate
