// How much each holder has used lately. Of requests with the same priority, that of the holder who has used least in
// proportion to his weight comes first. What was used counts half after a day.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "farm/core/schedule/clock.h"

namespace ferry::farm {

inline constexpr Duration kUsageHalfLife = std::chrono::hours(24);

class FairShare {
 public:
  struct Usage {
    double weight = 1;
    double board_seconds = 0;  // as of `at`, of leases that have ended
    Time at{};
    std::uint32_t running_boards = 0;
    Duration running_starts{};  // sum of their leases' starts
  };

  void set_weight(const std::string& holder, double weight) { usages_[holder].weight = weight; }
  // Restores what a holder had used before a restart.
  void restore(const std::string& holder, double weight, double board_seconds, Time at);
  void start(const std::string& holder, std::uint32_t boards, Time start);
  // Ends a lease that was started with the same arguments.
  void end(const std::string& holder, std::uint32_t boards, Time start, Time now);

  // Board seconds over weight.
  double share(const std::string& holder, Time now) const;
  // Usage of the holder, who must be known.
  const Usage& usage(const std::string& holder) const { return usages_.at(holder); }

 private:
  std::map<std::string, Usage> usages_;
};

}  // namespace ferry::farm
