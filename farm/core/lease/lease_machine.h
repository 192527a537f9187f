// Decides who gets which board, for how long: the tracker's part of leases, as a pure function of events. It reads no
// clock, draws no random numbers, opens no connection and writes nothing: the caller passes in what happened and when,
// and carries out the actions.
//
// A lease takes effect in this order: its records are persisted, its boards acknowledge it, its client hears of it.
// That a board never serves two holders follows from the boards' epochs alone (farm/protocol/lease/lease_guard.h), not
// from this order or from any clock.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "farm/core/lease/actions.h"
#include "farm/core/lease/events.h"

namespace ferry::farm {

struct State;

struct Options {
  // Without health checks a board is good as soon as it joins.
  bool has_health_checks = true;
};

struct QueuedRequest {
  LeaseId id{};
  std::string holder;
  std::size_t place = 0;             // from 1, among the requests that compete for the same boards
  std::optional<Duration> estimate;  // nothing: there is no history yet
  // A leased board without whose lease the request could have another one, which is on the same machine.
  std::optional<BoardId> blocked_by;
};

// The pointers in views are valid until the next event.
struct BoardView {
  const BoardRecord* record = nullptr;
  std::optional<BoardConnection> connection;
  bool is_hot = false;
  std::optional<LeaseId> lease;
  std::optional<BoardId> leased_neighbour;  // another board of its machine, which excludes it while it is leased
};

struct RequestView {
  const Request* request = nullptr;
  Time submitted;
  std::vector<LeasePart> parts;  // the parts of its lease, one for each slot; none: it waits
  Time end;                      // when its lease ends
  bool is_granted = false;       // its client was told
};

class LeaseMachine {
 public:
  // Continues from what is persisted, which check_snapshot() must accept. Clients of requests that are attached, and
  // that no earlier machine has ended, must attach again within kAttachTimeout.
  LeaseMachine(const Snapshot& snapshot, TrackerTerm term, const Options& options, Time now);
  ~LeaseMachine();

  // `now` must not be less than in an earlier call: it is the store's clock as it was when the tracker started, plus
  // the time that has passed since then. A commit that fails must be tried again, or the machine must be given up as if
  // it had lost its term.
  std::vector<Action> handle(const Event& event, Time now);

  // When handle(Tick{}) must be called at the latest, unless another event comes before.
  std::optional<Time> next_deadline() const;

  // The requests that wait, in the order in which they are considered.
  std::vector<QueuedRequest> queue(Time now) const;
  // How many there are.
  std::size_t waiting() const;
  // The requests that have a lease, in no order.
  std::vector<RequestView> leases() const;
  std::optional<RequestView> find_request(LeaseId id) const;
  // In the order in which the machine came to know them.
  std::vector<BoardView> boards() const;
  std::optional<BoardView> find_board(BoardId id) const;
  // Other boards of its machine, which are not leased while it is.
  std::vector<BoardId> boards_on_same_machine(BoardId id, std::size_t most) const;

 private:
  std::unique_ptr<State> state_;  // null once the term is lost
};

}  // namespace ferry::farm
