#include "host/gate/run/side_module.h"

#include "host/verify/same_call.h"

namespace ferry::gate {

MeasuredSide plan_side(CompiledModule module, const SuiteCase& suite_case) {
  FunctionInfo info = choose_function(module.manifest(), suite_case.kernel.function, suite_case.kernel.file);
  CallPlan plan = plan_call(info, suite_case.call, input_range(module));
  return {std::move(module), std::move(info), std::move(plan)};
}

MeasuredSide plan_same_side(CompiledModule module, const SuiteCase& suite_case, const MeasuredSide& other,
                            verify::ParameterPairs& pairs) {
  // A single function may have been renamed since.
  const Manifest& manifest = module.manifest();
  const std::string name = manifest.functions.size() == 1 ? "" : suite_case.kernel.function;
  FunctionInfo info = choose_function(manifest, name, "the baseline's module");
  pairs = verify::expect_same_parameters(other.info, info, "it cannot be compared with the baseline");
  CallPlan plan = verify::plan_same_call(info, other.info, other.plan, pairs);
  return {std::move(module), std::move(info), std::move(plan)};
}

}  // namespace ferry::gate
