#include "host/gate/run/seconds_alone.h"

#include "host/gate/run/compare_sides.h"
#include "host/kernel/kernel_failure.h"
#include "host/measure/memory_layout.h"
#include "host/stats/summary.h"

namespace ferry::gate {

double seconds_alone(const OpenSession& open, const MeasuredCase& measured, const SideModule& side,
                     stats::Random& random, const Observer& observer) {
  constexpr std::size_t kProcesses = 5;
  const SideModule* const only[] = {&side};
  std::vector<double> seconds;
  for (const std::uint32_t layout : shuffled_layouts(random)) {
    const bench::MemoryLayout memory = bench::draw_memory_layout(random, !measured.devices.empty());
    try {
      seconds.push_back(measure_process(open, measured, only, layout, memory, observer).timings.front().median());
    } catch (const Error& error) {
      if (!is_failure_of_kernel(error)) throw;
      throw SideFailed(WhichSide::current, error.what());
    }
    if (seconds.size() == kProcesses) break;
  }
  return stats::median(seconds);
}

}  // namespace ferry::gate
