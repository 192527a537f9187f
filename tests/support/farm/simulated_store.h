// The database: one transaction after the other, each after a delay, refused if its term is over.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "tests/support/farm/network.h"
#include "tests/support/farm/oracle.h"
#include "tests/support/farm/record_tables.h"

namespace ferry::test {

class SimulatedStore {
 public:
  SimulatedStore(World& world, Network& network, Oracle& oracle, Node node)
      : world_(world), network_(network), oracle_(oracle), node_(node), clock_(world.random) {}

  // Makes the tracker the one that schedules, if no other one holds the lock and it can reach the store.
  std::optional<farm::TrackerTerm> elect(Node tracker);
  bool is_held_by(Node tracker) const { return holder_ == tracker; }
  // The database ends the session that holds the lock.
  void release(Node tracker);

  enum class Outcome : std::uint8_t { committed, term_lost };
  // Calls `done` when the outcome is known to the tracker. Transactions of a tracker are done in order.
  void commit(Node tracker, farm::TrackerTerm term, std::vector<farm::Record> records,
              std::function<void(Outcome)> done);

  farm::Time clock() const { return farm::Time(std::chrono::hours(500'000)) + clock_.elapsed(world_.now) + offset_; }
  void set_clock(Delay by) { offset_ += by; }
  void back_up() { backup_ = {tables_, term_}; }
  // Requires that no tracker runs.
  void restore_backup();

  const RecordTables& tables() const { return tables_; }
  Node node() const { return node_; }

 private:
  struct Transaction {
    Node tracker = 0;
    std::uint64_t session = 0;
    farm::TrackerTerm term{};
    std::vector<farm::Record> records;
    std::function<void(Outcome)> done;
  };
  struct Backup {
    RecordTables tables;
    std::uint64_t term = 0;
  };

  void run_next();

  World& world_;
  Network& network_;
  Oracle& oracle_;
  Node node_;
  RecordTables tables_;
  std::uint64_t term_ = 0;
  std::optional<Node> holder_;
  std::uint64_t session_ = 0;  // the holder's session; what it had sent is lost with it
  std::deque<Transaction> transactions_;
  TrueTime last_commit_{};
  DriftingClock clock_;
  Delay offset_{};
  Backup backup_;
};

}  // namespace ferry::test
