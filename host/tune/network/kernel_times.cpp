#include "host/tune/network/kernel_times.h"

#include "module/kernel_symbol.h"

#include <algorithm>
#include <string_view>

namespace ferry::tune {

std::map<std::string, KernelTime> kernel_times(const std::vector<StepTime>& steps) {
  constexpr std::string_view kSized = "_tuned";
  constexpr std::size_t kPrefixLength = std::string_view(kSymbolPrefix).size();
  std::map<std::string, KernelTime> times;
  for (const StepTime& step : steps) {
    if (step.seconds.empty() || !step.kernel.starts_with(kSymbolPrefix)) continue;
    std::string name = step.kernel.substr(kPrefixLength);
    if (name.ends_with(kSized)) name.resize(name.size() - kSized.size());
    KernelTime& time = times[name];
    time.seconds += std::ranges::min(step.seconds);
    time.flops += step.flops;
    time.bytes += step.bytes;
    time.dtype = step.dtype;
  }
  return times;
}

}  // namespace ferry::tune
