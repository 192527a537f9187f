// Boards of farms that several connections of a program share.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "farm/client/board_lease.h"
#include "ferry/client.h"
#include "host/client/destination.h"

namespace ferry::session {

// A request for boards of one farm, which is made when the first of them is needed. Thread-safe once all have been
// added.
class LeaseGroup {
 public:
  explicit LeaseGroup(farm::FarmAccess access) : access_(std::move(access)) {}

  // Returns the board's place in the request. Throws Error if the address asks for another priority, length, wait or
  // job than those before.
  std::size_t add(const FarmAddress& address);
  const farm::FarmAccess& access() const { return access_; }

  // Waits until the boards are leased, unless they are already, and returns the one at this place. Throws Error, also
  // if the lease has ended.
  farm::wire::GrantedSlot board(std::size_t place, const ConnectOptions& options);
  // The way to the board at this place through the tracker. Requires board().
  farm::RelayWay relay(std::size_t place) const;
  // For how long the lease lasts at least, as far as is known. Requires that board() has returned.
  std::chrono::milliseconds remaining() const { return lease_->remaining(); }
  // Returns why the lease of this board has ended, after waiting briefly for that; empty if it goes on.
  std::string why_ended(std::size_t place) const;

 private:
  farm::FarmAccess access_;
  FarmAddress options_;  // without farm and selector
  std::vector<std::string> selectors_;
  const std::shared_ptr<std::atomic<bool>> is_relay_needed_ = std::make_shared<std::atomic<bool>>(false);
  std::mutex requesting_;
  std::unique_ptr<farm::BoardLease> lease_;
};

}  // namespace ferry::session

namespace ferry::detail {

struct LeasedBoard {
  std::shared_ptr<session::LeaseGroup> group;
  std::size_t place = 0;
  std::string name;  // "farm://lab/rpi4"

  // `self` is this object; the session keeps it.
  session::Destination destination(const ConnectOptions& options, SharedBoard self) const;
  std::string why_ended() const { return group->why_ended(place); }
};

}  // namespace ferry::detail
