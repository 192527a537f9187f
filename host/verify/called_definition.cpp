#include "host/verify/called_definition.h"

#include "host/client/scalar.h"
#include "host/verify/check_outputs.h"

namespace ferry::verify {

lang::RoundingBound bound_of(const FunctionInfo& function, const CallPlan& plan) {
  bool reads_floats = false;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    const ParameterInfo& parameter = function.parameters[p];
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::out) continue;
    if (!is_float(plan.dtypes[p])) continue;
    if (!plan.contents[p].is_random()) return lang::RoundingBound::worst_case;
    reads_floats = true;
  }
  return reads_floats ? lang::RoundingBound::square_root : lang::RoundingBound::worst_case;
}

CalledDefinition::CalledDefinition(const lang::Program& program, const FunctionInfo& function, const CallPlan& plan,
                                   lang::RoundingBound bound, const NativeDefinition* native)
    : arguments_(arguments_of(function, plan)),
      program_(program),
      plan_(plan),
      native_(native),
      reference_(program, plan.symbols, arguments_, bound) {}

const std::vector<NativeOutput>* CalledDefinition::native_outputs(double seconds) const {
  if (native_ == nullptr) return nullptr;
  if (outputs_) return &*outputs_;
  double work = 0;
  for (std::size_t p = 0; p < arguments_.size(); ++p) work += reference_.work(p);
  if (work <= kWorkLimit) return nullptr;
  outputs_ = native_->outputs_of(plan_, arguments_, reference_.bound(), seconds);
  return outputs_ ? &*outputs_ : nullptr;
}

std::vector<const void*> CalledDefinition::arguments_of(const FunctionInfo& function, const CallPlan& plan) {
  inputs_.resize(function.parameters.size());
  scalars_.resize(function.parameters.size());
  std::vector<const void*> arguments(function.parameters.size(), nullptr);
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    if (plan.scalars[p]) {
      scalars_[p] = session::scalar_bits(function, p, *plan.scalars[p]);
      arguments[p] = &scalars_[p];
    } else if (function.parameters[p].direction != Direction::out) {
      inputs_[p] = plan.host_copy(p);
      arguments[p] = inputs_[p].data();
    }
  }
  return arguments;
}

}  // namespace ferry::verify
