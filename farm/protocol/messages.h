// Lists every message between a farm's tracker, its boards and its clients, which FARM.md describes. Tags are never
// reused, also not those of rpc/messages.h, and the order of fields never changes: a nested struct may get more fields
// at its end; a message that needs another field becomes a new message.
//
// Every string and every list has a limit, which the receiver checks before it takes memory for it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "farm/protocol/lease/lease_terms.h"
#include "farm/protocol/modules.h"
#include "farm/protocol/queries.h"
#include "rpc/secure/noise.h"

namespace ferry::farm::wire {

inline constexpr std::uint32_t kVersionMin = 1;
inline constexpr std::uint32_t kVersionMax = 1;

// Who may send a message to whom.
enum Direction : unsigned {
  kFromBoard = 1,
  kFromClient = 2,
  kToBoard = 4,
  kToClient = 8,
};

// Tag, request struct, response struct, name in FARM.md, directions of the request. A connection starts with a join or
// with a hello; there is no other of either.
#define FERRY_FARM_OPENINGS(X)            \
  X(64, Join, Joined, "join", kFromBoard) \
  X(65, Hello, Welcome, "hello", kFromClient)
// Requests about the client's own leases.
#define FERRY_FARM_LEASE_REQUESTS(X) X(100, UseRelay, RelayOffered, "relay", kFromClient)
#define FERRY_FARM_REQUESTS(X) \
  FERRY_FARM_OPENINGS(X)       \
  FERRY_FARM_QUERIES(X)        \
  FERRY_FARM_LEASE_REQUESTS(X) \
  FERRY_FARM_MODULE_REQUESTS(X)

// Messages without an answer: tag, struct, name in FARM.md, directions.
#define FERRY_FARM_EVENTS(X)                                        \
  X(80, Keepalive, "keepalive", kFromClient | kToBoard | kToClient) \
  X(81, Heartbeat, "heartbeat", kFromBoard)                         \
  X(82, Acknowledged, "acknowledged", kFromBoard)                   \
  X(83, LeaseOver, "lease_over", kFromBoard)                        \
  X(84, Announce, "announce", kToBoard)                             \
  X(85, Withdraw, "withdraw", kToBoard)                             \
  X(86, Probe, "probe", kToBoard)                                   \
  X(87, Refused, "refused", kToBoard | kToClient)                   \
  X(88, Submit, "submit", kFromClient)                              \
  X(89, Attach, "attach", kFromClient)                              \
  X(90, Release, "release", kFromClient)                            \
  X(91, Extend, "extend", kFromClient)                              \
  X(92, Waiting, "waiting", kToClient)                              \
  X(93, Granted, "granted", kToClient)                              \
  X(94, Extension, "extension", kToClient)                          \
  X(95, Warning, "warning", kToClient)                              \
  X(96, Ended, "ended", kToClient)                                  \
  X(97, Rekey, "rekey", kToBoard)                                   \
  X(98, SessionEnded, "session_ended", kFromBoard)                  \
  X(99, OpenRelay, "open_relay", kToBoard)                          \
  X(112, LeaseHolder, "lease_holder", kToBoard)

// Limits of the body of a connection's first request, and of every body that a tracker or a board receives after it. A
// client receives larger ones, within those of frames.
inline constexpr std::size_t kMaxFirstBody = 16384;
inline constexpr std::size_t kMaxBody = 32768;

// How often a board sends a heartbeat and a client a keepalive. The tracker answers each with a keepalive; an end that
// hears nothing for kSilence gives the connection up.
inline constexpr std::chrono::seconds kHeartbeatPeriod{3};
inline constexpr std::chrono::seconds kSilence{11};

// A board joins. Its key says which board it is; `name` is what it is called where the tracker has no name for it.
struct Join {
  std::uint32_t version_min = kVersionMin;
  std::uint32_t version_max = kVersionMax;
  std::string name;
  std::uint64_t boot_id = 0;  // another one after each start of the board's system; 0: unknown
  std::uint64_t boot_ms = 0;  // its CLOCK_BOOTTIME
  lease::Epoch ceiling = 0;   // farm/protocol/lease/lease_guard.h
  lease::LeaseKey serving;    // the acknowledged lease; epoch 0: none
  std::string address;        // HOST:PORT, where clients reach it
  Description description;

  FERRY_FIELDS((version_min), (version_max), (name, kName), (boot_id), (boot_ms), (ceiling), (serving, kNested),
               (address, kText), (description, kNested));
};
struct Joined {
  std::uint32_t version = 0;
  std::string name;  // the name by which the farm knows the board

  FERRY_FIELDS((version), (name, kName));
};

struct Heartbeat {
  std::uint64_t boot_ms = 0;
  std::optional<std::int32_t> millidegrees;  // the hottest sensor's; nothing: there is none
  bool is_throttled = false;
  std::uint32_t load_permille = 0;  // mean number of running threads in the last minute, times 1000
  std::uint64_t probe = 0;          // the last probe that it received; 0: none

  FERRY_FIELDS((boot_ms), (millidegrees), (is_throttled), (load_permille), (probe));
};
struct Acknowledged {
  lease::LeaseKey key;
  std::uint32_t extension = 0;

  FERRY_FIELDS((key, kNested), (extension));
};
// The lease has ended on the board, or its announcement came too late.
struct LeaseOver {
  lease::LeaseKey key;

  FERRY_FIELDS((key, kNested));
};

struct Announce {
  lease::LeaseKey key;
  std::uint32_t extension = 0;  // number of times that the lease was extended
  std::uint64_t end_ms = 0;     // in the board's CLOCK_BOOTTIME
  secure::KeyBytes psk;         // the key of the sessions that the board admits

  FERRY_FIELDS((key, kNested), (extension), (end_ms), (psk, kBytes));
};
// Sent before the announcement of this lease: in whose name it is. Boards keep the files of each holder apart.
struct LeaseHolder {
  lease::LeaseKey key;
  std::uint64_t holder = 0;  // says nothing but whether two leases have the same one; not 0

  FERRY_FIELDS((key, kNested), (holder));
};
struct Withdraw {
  lease::LeaseKey key;

  FERRY_FIELDS((key, kNested));
};
// The board answers with a heartbeat at once.
struct Probe {
  std::uint64_t probe = 0;

  FERRY_FIELDS((probe));
};
// The board is to keep this key in place of the one that it has joined with, which was for its enrolment alone, and to
// join again.
struct Rekey {
  secure::KeyBytes psk;

  FERRY_FIELDS((psk, kBytes));
};
// A client's session has ended on the board.
struct SessionEnded {
  lease::LeaseKey key;
  std::string client;  // what it said of itself
  std::uint64_t length_ms = 0;
  std::string failure;  // why it ended; empty: its client ended it

  FERRY_FIELDS((key, kNested), (client, kText), (length_ms), (failure, kReport));
};
// The board is to dial the tracker and to open a relay with this token: a client waits at its other end.
struct OpenRelay {
  std::uint64_t token = 0;

  FERRY_FIELDS((token));
};
// Sent before the tracker closes a connection that it had accepted.
struct Refused {
  std::string reason;

  FERRY_FIELDS((reason, kText));
};

// A client. Its key says who it is; `client` is for logs: "ferry 0.1.0 user@laptop".
struct Hello {
  std::uint32_t version_min = kVersionMin;
  std::uint32_t version_max = kVersionMax;
  std::string client;

  FERRY_FIELDS((version_min), (version_max), (client, kText));
};
struct Welcome {
  std::uint32_t version = 0;
  std::string holder;  // in whose name the client's leases are

  FERRY_FIELDS((version), (holder, kText));
};

struct Keepalive {};

// The client draws ids at random, so that no two requests of a farm have the same one.
struct LeaseRequest {
  std::uint64_t id = 0;
  std::vector<std::string> slots;  // a selector for each board
  std::uint32_t priority = 0;      // 0 to 100
  std::uint64_t length_ms = 0;     // how long the lease lasts
  std::uint64_t wait_ms = 0;       // for how long at most to wait for it
  LeaseKind kind = LeaseKind::attached;
  std::string job = {};  // what it is for, in the client's words; for people

  FERRY_FIELDS((id), (slots, kSelectors), (priority), (length_ms), (wait_ms), (kind, kLeaseKind), (job, kText));
};
struct Submit {
  LeaseRequest request;

  FERRY_FIELDS((request, kNested));
};
// Submits again what another connection, maybe to another tracker, had submitted.
struct Attach {
  LeaseRequest request;
  bool is_granted = false;  // as far as the client knows

  FERRY_FIELDS((request, kNested), (is_granted));
};
struct Release {
  std::uint64_t lease = 0;

  FERRY_FIELDS((lease));
};
struct Extend {
  std::uint64_t lease = 0;
  std::uint64_t length_ms = 0;  // from now on

  FERRY_FIELDS((lease), (length_ms));
};

struct Waiting {
  std::uint64_t lease = 0;
  std::uint32_t place = 0;  // 1 is next, counting only requests that compete for the same boards
  std::optional<std::uint64_t> estimate_ms;
  std::string why;  // no board that fits can be handed out, whoever waits; empty: some can

  FERRY_FIELDS((lease), (place), (estimate_ms), (why, kText));
};
struct GrantedSlot {
  std::string board;
  std::string address;
  lease::Epoch epoch = 0;
  secure::KeyBytes psk;  // for sessions on this board

  FERRY_FIELDS((board, kName), (address, kText), (epoch), (psk, kBytes));
};
struct Granted {
  std::uint64_t lease = 0;
  std::uint64_t remaining_ms = 0;
  std::vector<GrantedSlot> slots;  // in the request's order

  FERRY_FIELDS((lease), (remaining_ms), (slots, kSlots));
};
// The answer to extend: how long the lease lasts from now on at least, and why no longer, if that was refused.
struct Extension {
  std::uint64_t lease = 0;
  std::uint64_t remaining_ms = 0;
  std::string refusal;

  FERRY_FIELDS((lease), (remaining_ms), (refusal, kText));
};
struct Warning {
  std::uint64_t lease = 0;
  std::uint64_t remaining_ms = 0;

  FERRY_FIELDS((lease), (remaining_ms));
};
// The last that a client hears of its request.
struct Ended {
  std::uint64_t lease = 0;
  std::string reason;         // "lease_expired"
  std::string failure_class;  // "timeout"
  std::string text;           // for people; may be empty

  FERRY_FIELDS((lease), (reason, kName), (failure_class, kName), (text, kText));
};

// The client cannot reach a board of its lease.
struct UseRelay {
  std::uint64_t lease = 0;
  std::uint32_t slot = 0;  // counted from 0, in the order of granted

  FERRY_FIELDS((lease), (slot));
};
struct RelayOffered {
  std::uint64_t token = 0;

  FERRY_FIELDS((token));
};

enum class Tag : std::uint16_t {
#define FERRY_ENUM(tag, request, reply, name, directions) request = tag,
  FERRY_FARM_REQUESTS(FERRY_ENUM)
#undef FERRY_ENUM
#define FERRY_ENUM(tag, event, name, directions) event = tag,
      FERRY_FARM_EVENTS(FERRY_ENUM)
#undef FERRY_ENUM
};

}  // namespace ferry::farm::wire
