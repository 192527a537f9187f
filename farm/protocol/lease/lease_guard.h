// Decides which lease a board serves. It is a state machine without clock, disk or connection: the server passes in
// what happened and carries out the effects.
//
// Exclusion rests on epochs alone. An announcement with a greater epoch than all before supersedes the lease that is
// being served, and is acknowledged only once that lease's session has ended. A ceiling of the epochs is kept on disk,
// because a restarted server must not accept an epoch again: it accepts only epochs above the ceiling. A restart ends
// the lease.
#pragma once

#include <optional>

#include "farm/protocol/lease/lease_terms.h"

namespace ferry::lease {

// The ceiling on disk is this far ahead, so that one write with fsync serves for as many leases.
inline constexpr Epoch kEpochsAhead = 1024;
// Greater epochs are refused: their ceiling would be no number any more.
inline constexpr Epoch kMaxEpoch = ~Epoch{0} - kEpochsAhead;

enum class AdmitResult : std::uint8_t {
  admitted,
  no_lease,     // nobody is served at the moment
  other_lease,  // this key is not that of the lease being served
  occupied,     // a session of this lease is running
};

class LeaseGuard {
 public:
  // What the server must do, in this order.
  struct Effects {
    bool end_session = false;         // then call session_ended()
    Epoch write_ceiling = 0;          // unless 0, write it to disk with fsync, then call ceiling_written()
    std::optional<LeaseKey> over;     // tell the tracker that this lease has ended here
    std::optional<LeaseKey> refused;  // tell the tracker that this announcement came too late
    std::optional<Announcement> acknowledged;
  };

  // `ceiling` is what the disk holds, 0 if that is nothing.
  explicit LeaseGuard(Epoch ceiling) : ceiling_(ceiling), highest_(ceiling) {}

  Effects announce(const Announcement& announcement, BootTime now);
  // The tracker has ended the lease.
  Effects withdraw(const LeaseKey& key);
  Effects ceiling_written(Epoch ceiling);
  Effects session_ended();
  // Must be called when the time end() is reached.
  Effects check_end(BootTime now);

  // If the answer is `admitted`, a session of the current lease is running from now on.
  AdmitResult admit(const LeaseKey& key, BootTime now);

  // The end of the announced lease, whether it is acknowledged yet or not.
  std::optional<BootTime> end() const;
  // The acknowledged lease. Together with ceiling() it is what the board reports on joining a tracker.
  std::optional<LeaseKey> serving() const;
  Epoch ceiling() const { return ceiling_; }

 private:
  Effects extend(const Announcement& announcement);
  void end_lease(Effects& effects);
  void acknowledge_if_ready(Effects& effects);

  Epoch ceiling_;  // on disk
  Epoch highest_;  // no announcement up to here is accepted
  std::optional<Announcement> current_;
  bool is_acknowledged_ = false;
  bool has_session_ = false;
};

}  // namespace ferry::lease
