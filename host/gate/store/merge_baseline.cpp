#include "host/gate/store/merge_baseline.h"

namespace ferry::gate {

namespace {

constexpr std::int64_t kMostClockDifference = 10;  // seconds, between the machines that share a store

}  // namespace

Baseline merge_baseline(Baseline& baseline, const Baseline& changes, std::int64_t now) {
  Baseline taken;
  for (const auto& [key, module] : changes) {
    const auto stored = baseline.find(key);
    const bool is_older = stored != baseline.end() && stored->second.stored > module.stored &&
                          stored->second.stored <= now + kMostClockDifference;
    if (is_older) continue;
    baseline[key] = module;
    taken[key] = module;
  }
  return taken;
}

}  // namespace ferry::gate
