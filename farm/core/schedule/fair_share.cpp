#include "farm/core/schedule/fair_share.h"

#include <algorithm>
#include <cmath>

namespace ferry::farm {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

double decayed(const FairShare::Usage& usage, Time now) {
  // After a restart the clock may have been set back.
  const Duration age = std::max(Duration::zero(), now - usage.at);
  return usage.board_seconds * std::exp2(-seconds(age) / seconds(kUsageHalfLife));
}

}  // namespace

void FairShare::restore(const std::string& holder, double weight, double board_seconds, Time at) {
  Usage& usage = usages_[holder];
  usage.weight = weight;
  usage.board_seconds = board_seconds;
  usage.at = at;
}

void FairShare::start(const std::string& holder, std::uint32_t boards, Time start) {
  Usage& usage = usages_[holder];
  usage.running_boards += boards;
  usage.running_starts += boards * start.time_since_epoch();
}

void FairShare::end(const std::string& holder, std::uint32_t boards, Time start, Time now) {
  Usage& usage = usages_[holder];
  usage.board_seconds = decayed(usage, now) + boards * seconds(std::max(Duration::zero(), now - start));
  usage.at = now;
  usage.running_boards -= boards;
  usage.running_starts -= boards * start.time_since_epoch();
}

double FairShare::share(const std::string& holder, Time now) const {
  const auto found = usages_.find(holder);
  if (found == usages_.end()) return 0;
  const Usage& usage = found->second;
  const Duration running = usage.running_boards * now.time_since_epoch() - usage.running_starts;
  return (decayed(usage, now) + seconds(running)) / usage.weight;
}

}  // namespace ferry::farm
