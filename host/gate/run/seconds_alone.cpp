#include "host/gate/run/seconds_alone.h"

#include "host/gate/run/compare_sides.h"
#include "host/measure/memory_layout.h"
#include "host/stats/summary.h"

namespace ferry::gate {

double seconds_alone(const OpenSession& open, const RunSettings& measured, const MeasuredSide& side,
                     stats::Random& random, const Observer& observer) {
  constexpr std::size_t kProcesses = 5;
  std::vector<double> seconds;
  for (const std::uint32_t layout : shuffled_layouts(random)) {
    const bench::PlacedSide only[] = {{side, layout}};
    const bench::MemoryLayout memory = bench::draw_memory_layout(random, !measured.devices.empty());
    seconds.push_back(run_side(Side::current, [&] {
      const bench::MeasuredProcess process = bench::measure_process(open, measured, only, memory, observer);
      const std::string& mistake = process.results.front().mistake;
      if (!mistake.empty()) throw SideFailed(Side::current, "timed calls: " + mistake);
      return process.timings.front().median();
    }));
    if (seconds.size() == kProcesses) break;
  }
  return stats::median(seconds);
}

}  // namespace ferry::gate
