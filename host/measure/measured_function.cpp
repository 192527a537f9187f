#include "host/measure/measured_function.h"

namespace ferry::bench {

MeasuredFunction measured_function(const FunctionInfo& info, const std::vector<std::int64_t>& symbols) {
  MeasuredFunction function{info.name, signature_text(info), {}};
  for (std::size_t s = 0; s < symbols.size(); ++s) function.sizes.emplace_back(info.symbols[s], symbols[s]);
  return function;
}

}  // namespace ferry::bench
