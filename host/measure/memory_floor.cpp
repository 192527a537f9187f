#include "host/measure/memory_floor.h"

#include <algorithm>

#include "base/quantity_text.h"
#include "ferry/stats/interval.h"
#include "host/stats/summary.h"
#include "module/manifest.h"

namespace ferry::bench {

namespace {

// A virtual machine may have more of a shared cache than it is told.
constexpr std::uint64_t kCaches = 4;
// A copy that reads each line before it writes it moves half as many bytes again as it counts. Streaming stores do not
// read, so a kernel that only writes, or only reads, may reach so much of a copy's rate.
constexpr double kMostOfCopy = 1.5;
// Times below this share of what memory takes are impossible; rates are not measured more exactly.
constexpr double kLeastShare = 0.7;

}  // namespace

std::uint64_t moved_bytes(const FunctionInfo& info, const std::vector<Shape>& shapes, const DeviceFacts& facts,
                          const std::vector<bool>& whole_reads) {
  std::uint64_t cache = 0;
  for (const CacheFacts& one : facts.caches) cache = std::max(cache, one.bytes);
  std::uint64_t bytes = 0;
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    const ParameterInfo& parameter = info.parameters[p];
    if (parameter.kind != ParameterKind::tensor || !parameter.strides.empty()) continue;
    const bool is_needed = parameter.direction != Direction::in || (p < whole_reads.size() && whole_reads[p]);
    if (is_needed) bytes += dense_bytes(parameter.dtype, shapes[p]).value_or(0);
  }
  return cache > 0 && bytes / kCaches > cache ? bytes : 0;
}

std::string too_fast(const Timing& timing, std::uint64_t moved, double copy_rate) {
  if (moved == 0 || !(copy_rate > 0)) return {};
  const double floor = static_cast<double>(moved) / (kMostOfCopy * copy_rate);
  const stats::Interval interval = stats::median_interval(timing.seconds);
  if (!interval.is_known() || interval.high >= kLeastShare * floor) return {};
  return seconds_text(timing.median()) + " for " + bytes_text(moved) + " of tensors, for which memory takes at least " +
         seconds_text(floor);
}

}  // namespace ferry::bench
