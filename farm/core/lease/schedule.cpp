// Applies what the scheduler decides.
#include "farm/core/lease/handlers.h"
#include "farm/core/lease/lease_life.h"

namespace ferry::farm {

void update_shares(State& state, Time now) {
  constexpr double kUnknown = -1;
  std::vector<double> shares(state.holders.size(), kUnknown);
  for (Entry* entry : state.queue) {
    double& share = shares[entry->waiting.holder];
    if (share == kUnknown) share = state.shares.share(entry->request.holder, now);
    entry->waiting.share = share;
  }
}

void schedule(State& state, Time now) {
  if (state.queue.empty() || state.boards.available_for_checks().is_empty()) return;
  update_shares(state, now);
  std::vector<const WaitingRequest*> requests;
  std::vector<Entry*> entries;
  for (Entry* entry : state.queue) {
    if (entry->must_attach) continue;
    requests.push_back(&entry->waiting);
    entries.push_back(entry);
  }
  const Supply supply{&state.boards.units(), &state.boards.returning(), state.boards.busy_until()};
  for (const Start& start : plan_round(requests, supply, now))
    start_lease(state, *entries[start.request], start.boards, now);
}

}  // namespace ferry::farm
