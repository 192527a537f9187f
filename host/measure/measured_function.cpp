#include "host/measure/measured_function.h"

#include <algorithm>

namespace ferry::bench {

MeasuredFunction measured_function(const FunctionInfo& info, const std::vector<std::int64_t>& symbols) {
  MeasuredFunction function{info.name, signature_text(info), {}};
  for (std::size_t s = 0; s < symbols.size(); ++s) function.sizes.emplace_back(info.symbols[s], symbols[s]);
  return function;
}

Method method_of(const FunctionInfo& info, const Timing& timing, bool is_cold, std::uint64_t seed) {
  const bool reads_what_it_writes = std::ranges::any_of(
      info.parameters, [](const ParameterInfo& parameter) { return parameter.direction == Direction::inout; });
  Method method;
  if (timing.inspected && reads_what_it_writes) method.inputs = "restored";
  if (timing.fresh_inputs) method.inputs = "fresh";
  if (is_cold) method.cache = timing.wiped_bytes > 0 ? "wiped" : "flushed";
  method.isolation = to_text(timing.isolation);
  method.seed = seed;
  return method;
}

}  // namespace ferry::bench
