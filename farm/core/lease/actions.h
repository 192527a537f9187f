// The actions that a lease machine wants done. Actions on a connection that has ended meanwhile are to be dropped.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "farm/core/lease/records.h"
#include "farm/protocol/lease/lease_terms.h"

namespace ferry::farm {

// Write all records in one transaction, if `term` is still the current one. Commits are written in order.
struct Persist {
  TrackerTerm term{};
  std::uint64_t commit = 0;
  std::vector<Record> records;
};

struct AnnounceLease {
  BoardConnection connection{};
  lease::Announcement announcement;
  std::string holder;
};

struct WithdrawLease {
  BoardConnection connection{};
  lease::LeaseKey key;
};

// The board must answer with a heartbeat at once.
struct ProbeBoard {
  BoardConnection connection{};
  std::uint64_t probe = 0;
};

struct CloseBoard {
  BoardConnection connection{};
  std::string reason;
};

// For the log and for notifications.
struct BoardStateChanged {
  BoardId board{};
  BoardState state = BoardState::unknown;
  std::string reason;
};

// For the log: the model and the tags of a board that are names of other boards, and do not count.
struct ClaimsRefused {
  BoardId board{};
  std::vector<std::string> names;
};

struct TellWaiting {
  ClientConnection client{};
  LeaseId lease{};
  std::size_t place = 0;             // 1 is next, counting only requests that compete for the same boards
  std::optional<Duration> estimate;  // nothing: there is no history yet
  std::string why;                   // no board can be handed out now; empty: some are in use
};

struct TellGranted {
  ClientConnection client{};
  LeaseId lease{};
  std::vector<LeasePart> parts;
  Duration remaining{};
};

// The answer to ExtensionRequested: how long the lease lasts from now on at least, and why no longer, if that was
// refused.
struct TellExtension {
  ClientConnection client{};
  LeaseId lease{};
  Duration remaining{};
  std::string refusal;
};

struct TellWarning {
  ClientConnection client{};
  LeaseId lease{};
  Duration remaining{};
};

// The last that a client hears of its request.
struct TellEnded {
  ClientConnection client{};
  LeaseId lease{};
  EndReason reason = EndReason::released;
  std::string text;
};

// For the audit log: the client has used the id of a request of somebody else, running or ended, and is told so by
// TellEnded.
struct ForeignIdRefused {
  ClientConnection client{};
  LeaseId lease{};
};

using Action =
    std::variant<Persist, AnnounceLease, WithdrawLease, ProbeBoard, CloseBoard, BoardStateChanged, ClaimsRefused,
                 TellWaiting, TellGranted, TellExtension, TellWarning, TellEnded, ForeignIdRefused>;

}  // namespace ferry::farm
