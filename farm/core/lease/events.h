// The events that happen to a lease machine. Events of one connection arrive in the order in which they were sent.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "farm/core/lease/records.h"
#include "farm/protocol/lease/lease_terms.h"

namespace ferry::farm {

// An admin, or farm.toml, adds a board or changes what is configured of it.
struct BoardEnrolled {
  BoardId board{};
  std::string name;
  std::map<std::string, std::string> tags;
  std::string machine;
  bool shares_machine = false;
};

// A board that holds the key of `board` has connected.
struct BoardJoined {
  BoardConnection connection{};
  BoardId board{};
  std::uint64_t boot_id = 0;  // 0: unknown
  lease::BootTime boot_time;
  lease::Epoch ceiling = 0;
  std::optional<lease::LeaseKey> serving;
  BoardDescription description;  // what the board says of itself; its name is that of its enrolment
};

struct BoardHeartbeat {
  BoardConnection connection{};
  lease::BootTime boot_time;
  std::optional<std::int32_t> millidegrees;
  bool is_throttled = false;
  std::uint64_t probe = 0;  // the last ProbeBoard that it received
};

struct BoardLeft {
  BoardConnection connection{};
};

struct BoardAcknowledged {
  BoardConnection connection{};
  lease::LeaseKey key;
  std::uint32_t extension = 0;
};

// The lease has ended on the board, or its announcement came too late.
struct BoardLeaseOver {
  BoardConnection connection{};
  lease::LeaseKey key;
};

struct HealthChecked {
  BoardId board{};
  bool has_passed = false;
};

struct BaselineMeasured {
  BoardId board{};
  std::int32_t millidegrees = 0;
};

enum class BoardOrder : std::uint8_t { maintain, retire, return_to_service };

// From an admin. A running lease goes on.
struct BoardOrdered {
  BoardId board{};
  BoardOrder order = BoardOrder::maintain;
};

struct HolderWeighted {
  std::string holder;
  double weight = 1;
};

struct RequestSubmitted {
  ClientConnection client{};
  Request request;
};

// A client that had submitted the request on another connection, maybe to another tracker, submits it again.
struct RequestAttached {
  ClientConnection client{};
  Request request;
  bool is_granted = false;  // as far as the client knows
};

// Cancels the request if it waits.
struct LeaseReleased {
  LeaseId lease{};
};

struct ExtensionRequested {
  LeaseId lease{};
  Duration length{};  // from now on
};

struct LeaseRevoked {
  LeaseId lease{};
};

struct ClientHeard {
  ClientConnection client{};
};

struct ClientLeft {
  ClientConnection client{};
};

// This commit and all before it.
struct Persisted {
  std::uint64_t commit = 0;
};

// Another tracker schedules now. The machine does nothing from here on.
struct TermLost {};

struct Tick {};

using Event =
    std::variant<BoardEnrolled, BoardJoined, BoardHeartbeat, BoardLeft, BoardAcknowledged, BoardLeaseOver,
                 HealthChecked, BaselineMeasured, BoardOrdered, HolderWeighted, RequestSubmitted, RequestAttached,
                 LeaseReleased, ExtensionRequested, LeaseRevoked, ClientHeard, ClientLeft, Persisted, TermLost, Tick>;

}  // namespace ferry::farm
