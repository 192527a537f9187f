// Watches all machines of a simulation and judges what they did by their own logs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "farm/core/lease/records.h"
#include "farm/protocol/lease/lease_terms.h"
#include "tests/support/farm/network.h"
#include "tests/support/farm/record_tables.h"
#include "tests/support/farm/world.h"

namespace ferry::test {

class Oracle {
 public:
  explicit Oracle(World& world) : world_(world) {}

  // A tracker has decided on a lease or its extension; it ends so much later by true time.
  void decided(const farm::LeaseRecord& lease, Delay remaining);
  // `before` is what the store held before.
  void committed(const farm::Record& record, const RecordTables& before);
  // A tracker sends these to a board and to a client.
  void announces(const lease::LeaseKey& key, std::uint32_t extension);
  void grants(farm::LeaseId lease, const std::vector<farm::LeasePart>& parts);

  // A board will end the lease then; a client is told that it has the lease for so long.
  void ends(const lease::LeaseKey& key, TrueTime end) { board_ends_[key_of(key)] = end; }
  void promises(const farm::LeaseRecord& lease, Delay remaining) const;
  // `board` is a physical one; two of them may claim to be the same. With another disk it is another one.
  void replaces_disk(Node board) { last_epochs_.erase(board); }
  void acknowledges(Node board, farm::BoardId id, const lease::LeaseKey& key);
  void session_starts(Node board, const lease::LeaseKey& key, Node client);
  void session_ends(Node board);

  void submitted(farm::LeaseId request, Delay wait) { waiting_[request] = {world_.now, wait, false}; }
  // Its client has heard of its lease.
  void granted(farm::LeaseId request);
  void answered(farm::LeaseId request);
  // Its client has forgotten it.
  void abandoned(farm::LeaseId request) { waiting_.erase(request); }
  bool is_everything_answered() const { return waiting_.empty(); }
  void expect_answers() const;
  // Nothing has failed since then, so no request waits much longer than it wanted to.
  void expect_short_waits(TrueTime quiet_since) const;

  std::uint64_t sessions = 0, leases = 0, answers = 0, extensions = 0;  // so far

 private:
  struct Session {
    lease::LeaseKey key;
    Node client = 0;
  };
  struct Waiting {
    TrueTime since{};
    Delay wait{};
    bool is_granted = false;
  };
  using Key = std::pair<std::uint64_t, lease::Epoch>;
  static Key key_of(const lease::LeaseKey& key) { return {key.lease, key.epoch}; }
  void expect_free_machines(const farm::LeaseRecord& lease, const RecordTables& tables) const;

  World& world_;
  std::map<Key, TrueTime> board_ends_;
  std::map<Key, TrueTime> ends_;                                                // ends of leases, in true time
  std::set<std::tuple<std::uint64_t, lease::Epoch, std::uint32_t>> committed_;  // lease, epoch, extension
  std::map<Node, lease::Epoch> last_epochs_;  // the last that each board has acknowledged
  std::set<std::pair<farm::BoardId, Key>> acknowledged_;
  std::map<Node, Session> running_;
  std::map<farm::LeaseId, Waiting> waiting_;
};

}  // namespace ferry::test
