#include "host/gate/run/check_results.h"

#include "host/measure/side_outputs.h"
#include "host/verify/check_outputs.h"

namespace ferry::gate {

namespace {

const char* module_name(Side side) { return side == Side::baseline ? "the baseline" : "the current module"; }

verify::Outputs outputs_of(const OpenSession& open, const RunSettings& measured, const MeasuredSide& side, Side which,
                           bool guard_tensors, const Observer& observer, std::vector<std::string>* warnings = nullptr) {
  return run_side(which,
                  [&] { return bench::outputs_of_side(open, measured, side, guard_tensors, observer, warnings); });
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
std::string mistake_in(const verify::Outputs& outputs, Side side, const MeasuredSide& current,
                       const KernelSource& source, const SuiteCase& suite_case, std::vector<std::string>& warnings) {
  const lang::Program program = program_of(source, current.info.name);
  const verify::CheckLimits limits{suite_case.results.rtol, suite_case.results.atol};
  const verify::Findings findings{verify::check_outputs(program, current.info, current.plan, outputs, limits), {}};
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
  const bool guard = may_leave_tensors(source);
  const MeasuredSide& current = sides[Side::current];
  sides[Side::baseline].results = std::make_shared<const verify::Outputs>(
      outputs_of(open, measured, sides[Side::baseline], Side::baseline, guard, observer));
  sides[Side::current].results = std::make_shared<const verify::Outputs>(
      outputs_of(open, measured, current, Side::current, guard, observer, &warnings));
  const verify::Outputs &baseline_outputs = *sides[Side::baseline].results,
                        &current_outputs = *sides[Side::current].results;
  if (!has_definition(source)) {
    const std::string difference = verify::difference_text(verify::compare_all_outputs(
        current.info, current.plan, current_outputs, baseline_outputs, pairs, suite_case.results));
    return difference.empty() ? "" : "the results differ: " + difference;
  }
  const std::string mistake = mistake_in(current_outputs, Side::current, current, source, suite_case, warnings);
  if (!mistake.empty()) return mistake;
  return mistake_in(in_order_of_current(baseline_outputs, current, pairs), Side::baseline, current, source, suite_case,
                    warnings);
}

std::string mistake_of(const OpenSession& open, const RunSettings& measured, const MeasuredSide& current,
                       const KernelSource& source, const SuiteCase& suite_case, const Observer& observer,
                       std::vector<std::string>& warnings) {
  const bool guard = may_leave_tensors(source);
  return mistake_in(outputs_of(open, measured, current, Side::current, guard, observer, &warnings), Side::current,
                    current, source, suite_case, warnings);
}

void call_once(const OpenSession& open, const RunSettings& measured, const MeasuredSide& side, Side which,
               const KernelSource& source, const Observer& observer, std::vector<std::string>* warnings) {
  outputs_of(open, measured, side, which, may_leave_tensors(source), observer, warnings);
}

}  // namespace ferry::gate
