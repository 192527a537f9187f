// The knowledge that a client has of its request and of the lease that it gets, from the events of trackers. It has no
// connection and no clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "farm/protocol/messages.h"
#include "rpc/wire/connection.h"

namespace ferry::farm {

// Why a request or a lease has ended. The names of reasons and classes are those of farm/core/lease/end_reason.h.
struct LeaseEnd {
  std::string reason;
  std::string failure_class;
  std::string text;
};

// "lease_expired, timeout: the lease has lasted for as long as it may".
std::string to_text(const LeaseEnd& end);

class LeaseStatus {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  // With `is_extended` the lease is to last for as long as somebody wants it: it is extended by its length each time
  // that half of it is over.
  LeaseStatus(wire::LeaseRequest request, bool is_extended) : request_(std::move(request)), is_extended_(is_extended) {}

  // Applies an event. Those of other leases, and others that say nothing about a lease, change nothing. Fails with
  // protocol_error for what no tracker sends.
  Status apply(const rpc::Frame& event, Time now);

  const wire::LeaseRequest& request() const { return request_; }
  bool is_granted() const { return !slots_.empty(); }
  // In the order of the request's selectors; empty while it waits. They never change.
  const std::vector<wire::GrantedSlot>& slots() const { return slots_; }
  // The place in the queue that was told last.
  const std::optional<wire::Waiting>& place() const { return place_; }
  std::uint64_t places_told() const { return places_told_; }
  const std::optional<LeaseEnd>& end() const { return end_; }
  // Only for what has not ended before.
  void set_end(LeaseEnd end);

  // The lease lasts until then at least, as far as the client knows. Requires is_granted().
  Time lasts_until() const { return lasts_until_; }
  // Number of answers to extensions, and why the last one was refused; empty: it was not.
  std::uint64_t extensions_answered() const { return extensions_answered_; }
  const std::string& refusal() const { return refusal_; }

  // When the next extension is to be asked for; nothing if none is.
  std::optional<Time> next_extension() const;
  void extension_was_asked(Time now);

  // Returns what the user should know by now and has not been told, such as that the lease will end; otherwise nothing.
  std::string take_notice();

 private:
  void grant(wire::Granted granted, Time now);
  void set_remaining(std::uint64_t remaining_ms, Time now);

  wire::LeaseRequest request_;
  bool is_extended_;
  std::vector<wire::GrantedSlot> slots_;
  std::optional<wire::Waiting> place_;
  std::uint64_t places_told_ = 0;
  std::optional<LeaseEnd> end_;
  Time lasts_until_;
  Time next_extension_;
  Time last_asked_;
  std::uint64_t extensions_answered_ = 0;
  std::string refusal_;
  std::string notice_;
};

// Returns "pi-3" or "pi-3 and pi-4".
std::string boards_text(const std::vector<wire::GrantedSlot>& slots);

}  // namespace ferry::farm
