#include "host/measure/roofline.h"

#include "host/measure/peak.h"

namespace ferry::bench {

std::optional<DType> arithmetic_type(const FunctionInfo& function) {
  for (const ParameterInfo& parameter : function.parameters) {
    if (parameter.direction == Direction::in || !is_float(parameter.dtype)) continue;
    return parameter.dtype == DType::f64 ? DType::f64 : DType::f32;
  }
  return std::nullopt;
}

std::optional<Roofline> measure_roofline(const Device& device, const Compiler& compiler, const Target& target,
                                         const FunctionInfo& function, const CallPlan& plan,
                                         const BenchOptions& bench) {
  const std::optional<DType> type = arithmetic_type(function);
  const Result<std::int64_t> flops = evaluate(function.flops, plan.symbols);
  const std::uint64_t bytes = traffic_bytes(function, plan.shapes);
  if (!type || !target.is_for_cpu() || !flops.is_ok() || flops.value() <= 0 || bytes == 0) return std::nullopt;
  return Roofline{static_cast<double>(flops.value()), static_cast<double>(bytes),
                  peak_meter(device, compiler, target, *type, bytes, bench)(), *type};
}

}  // namespace ferry::bench
