#include "tests/support/farm/simulated_store.h"

#include <algorithm>
#include <utility>

namespace ferry::test {

std::optional<farm::TrackerTerm> SimulatedStore::elect(Node tracker) {
  if (holder_ || network_.is_partitioned(tracker, node_)) return std::nullopt;
  holder_ = tracker;
  ++session_;
  return farm::TrackerTerm{++term_};
}

void SimulatedStore::release(Node tracker) {
  if (holder_ == tracker) holder_.reset();
}

void SimulatedStore::commit(Node tracker, farm::TrackerTerm term, std::vector<farm::Record> records,
                            std::function<void(Outcome)> done) {
  Random& random = world_.random;
  const Delay delay =
      random.once_in(100) ? random.between(Delay(100), Delay(3000)) : random.between(Delay(1), Delay(20));
  last_commit_ = std::max(last_commit_, world_.now + delay);
  transactions_.push_back({tracker, session_, term, std::move(records), std::move(done)});
  world_.after(last_commit_ - world_.now, [this] { run_next(); });
}

void SimulatedStore::run_next() {
  const Transaction& next = transactions_.front();
  const bool is_current = next.session == session_ && holder_ == next.tracker && next.term == farm::TrackerTerm{term_};
  // The tracker sends it again until it reaches the store.
  if (is_current && network_.is_partitioned(next.tracker, node_))
    return world_.after(Delay(20), [this] { run_next(); });
  if (is_current) {
    for (const farm::Record& record : next.records) {
      oracle_.committed(record, tables_);
      tables_.apply(record);
    }
  }
  // The tracker may stop now without hearing that the transaction was done.
  world_.after(Delay(1),
               [done = next.done, is_current] { done(is_current ? Outcome::committed : Outcome::term_lost); });
  transactions_.pop_front();
}

void SimulatedStore::restore_backup() {
  // Boards are enrolled before anything else, so no backup lacks them.
  tables_ = backup_.tables;
  term_ = backup_.term;
}

}  // namespace ferry::test
