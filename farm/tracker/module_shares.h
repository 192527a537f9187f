// Limits what the connections of one key take of the database of modules and of the tracker's memory, so that others
// still get their turn.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/status.h"
#include "farm/relay/token_bucket.h"
#include "farm/tracker/peers.h"

namespace ferry::farm {

class ModuleShares {
 public:
  // Requests that wait for the database: a quarter of those of all keys.
  static constexpr std::size_t kMostWaiting = 128;
  // Connections that send or receive objects, each with several megabytes that wait for its network.
  static constexpr std::size_t kMostTransfers = 8;
  // Entries of the audit log, which is in the database of leases: so many at once, and then one each second.
  static constexpr std::uint64_t kAuditBurst = 100;

  explicit ModuleShares(std::function<TokenBucket::TimePoint()> now = std::chrono::steady_clock::now)
      : now_(std::move(now)) {}

  // Counts one more request that waits. Fails with busy if there are too many.
  Status begin_request(const secure::KeyId& key);
  void end_request(const secure::KeyId& key);
  // Counts the connection among those that transfer objects. Fails with busy if there are too many others, of which
  // is_done(connection) says whether they still do.
  Status begin_transfer(const secure::KeyId& key, ConnectionNumber connection,
                        const std::function<bool(ConnectionNumber)>& is_done);
  // Fails with busy if too much was audited of late.
  Status expect_audit(const secure::KeyId& key);
  void count_audit(const secure::KeyId& key);

 private:
  struct Use {
    std::size_t waiting = 0;
    std::set<ConnectionNumber> transfers;
    TokenBucket audits;
  };

  Use& use_of(const secure::KeyId& key) {
    return uses_.try_emplace(key, Use{0, {}, {1, kAuditBurst, now_()}}).first->second;
  }

  std::function<TokenBucket::TimePoint()> now_;
  std::map<secure::KeyId, Use> uses_;  // by every key that has asked
};

}  // namespace ferry::farm
