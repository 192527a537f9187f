#include "host/tune/network/network_budget.h"

#include "ferry/bench/comparison.h"
#include "host/tune/network/confirm_in_network.h"

#include <algorithm>

namespace ferry::tune {

namespace {

constexpr double kMostSearch = 0.65, kLeastSearch = 0.4;
constexpr double kRanking = 0.1;  // a share of the budget
// A session has both networks. So many sessions of a comparison come before its processes: in them the results of both
// sides are compared.
constexpr double kNetworks = 2, kFirstSessions = 1;
// The default network and the tuned one are compiled for the confirmation, and with another layout for the comparison.
constexpr double kCompiled = 2;

}  // namespace

void NetworkBudget::set_costs(const NetworkCosts& costs) {
  if (seconds_ <= 0) return;
  const double confirmation = kCompiled * costs.compile + kNetworks * costs.session * kLeastSessions;
  const double comparison =
      kCompiled * costs.compile + kNetworks * costs.session * (kFirstSessions + bench::kLeastProcesses);
  const double end = kRanking + (confirmation + comparison) / seconds_;
  end_of_search_ = std::clamp(1 - end, kLeastSearch, kMostSearch);
  end_of_ranking_ = end_of_search_ + kRanking;
  const double rest = 1 - end_of_ranking_;
  end_of_confirmation_ = end_of_ranking_ + rest * (end > kRanking ? confirmation / (confirmation + comparison) : 0.5);
}

double NetworkBudget::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::optional<double> NetworkBudget::search_seconds_left() const {
  const Until until = end_of_search();
  if (!until) return std::nullopt;
  return std::chrono::duration<double>(*until - std::chrono::steady_clock::now()).count();
}

NetworkBudget::Until NetworkBudget::at(double share) const {
  if (seconds_ <= 0) return std::nullopt;
  const std::chrono::duration<double> seconds(share * seconds_);
  return start_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds);
}

}  // namespace ferry::tune
