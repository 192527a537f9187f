// The questions that people ask of a farm, with their answers, and the orders of admins. The requests of FARM.md and
// the routes of the HTTP interface carry the same structs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "farm/protocol/field_kinds.h"
#include "farm/protocol/lease/lease_terms.h"
#include "rpc/secure/noise.h"

namespace ferry::farm::wire {

// Tag, request struct, response struct, name in FARM.md, directions of the request.
// Requests about the boards, the leases and the requests of this moment.
#define FERRY_FARM_LISTINGS(X)                                \
  X(66, ListDevices, DevicePage, "list_devices", kFromClient) \
  X(67, ListQueue, QueuePage, "list_queue", kFromClient)      \
  X(68, ListLeases, LeasePage, "list_leases", kFromClient)    \
  X(113, Summarize, FarmSummary, "summarize", kFromClient)
// Requests about what is over, which the database keeps.
#define FERRY_FARM_PAST_LISTINGS(X)                            \
  X(69, ListHistory, HistoryPage, "list_history", kFromClient) \
  X(70, ListAudit, AuditPage, "list_audit", kFromClient)       \
  X(71, ListHealth, HealthPage, "list_health", kFromClient)    \
  X(72, ListSessions, SessionPage, "list_sessions", kFromClient)
// Requests about who may use the farm, and those that change it.
#define FERRY_FARM_COMMANDS(X)                                            \
  X(73, ListCredentials, CredentialPage, "list_credentials", kFromClient) \
  X(74, OrderBoard, Done, "order_board", kFromClient)                     \
  X(75, EndLease, Done, "end_lease", kFromClient)                         \
  X(76, EnrolBoard, KeyMade, "enrol_board", kFromClient)                  \
  X(77, AddClient, KeyMade, "add_client", kFromClient)                    \
  X(78, AddToken, TokenMade, "add_token", kFromClient)                    \
  X(79, RevokeCredential, Done, "revoke_credential", kFromClient)
#define FERRY_FARM_QUERIES(X) \
  FERRY_FARM_LISTINGS(X)      \
  FERRY_FARM_PAST_LISTINGS(X) \
  FERRY_FARM_COMMANDS(X)

struct Accelerator {
  std::string kind;  // "cuda" or "opencl"
  std::string arch;  // "sm_90"; empty: unknown

  FERRY_FIELDS((kind, kName), (arch, kName));
};
// A tag without a value has an empty one.
struct Label {
  std::string name;
  std::string value;

  FERRY_FIELDS((name, kName), (value, kText));
};
struct Description {
  std::string model;  // as the firmware names the board
  std::string arch;   // as module/device_archs.def names it
  std::string cpu;
  std::string server_version;
  std::uint64_t memory_bytes = 0;
  std::uint32_t cores = 0;
  std::vector<std::string> features;
  std::vector<Accelerator> accelerators;
  std::vector<Label> tags;

  FERRY_FIELDS((model, kText), (arch, kName), (cpu, kText), (server_version, kName), (memory_bytes), (cores),
               (features, kFeatures), (accelerators, kAccelerators), (tags, kTags));
};

enum class LeaseKind : std::uint8_t {
  attached = 1,  // ends with the client's connection
  reserved = 2,  // ends at its time or when it is released
};
inline constexpr Word<LeaseKind> kLeaseKinds[] = {{"attached", LeaseKind::attached}, {"reserved", LeaseKind::reserved}};
inline constexpr fields::Worded<kLeaseKinds> kLeaseKind;

// Listings come in pages: the next one starts after the last element of this one.
struct ListDevices {
  std::string selector;  // empty: all
  std::string after;     // a name; empty: from the start

  FERRY_FIELDS((selector, kSelector), (after, kName));
};
struct DeviceListing {
  std::string name;
  Description description;
  std::string state;  // "good"
  bool is_connected = false;
  std::uint64_t lease = 0;  // 0: it is free
  std::string holder;
  std::optional<std::int32_t> millidegrees;
  bool is_throttled = false;
  std::uint32_t load_permille = 0;
  std::string transport;                  // "ssh": the tracker asks it by ssh how it is; empty: it has joined by itself
  std::vector<std::string> same_machine;  // other boards of its machine, of which only one is leased at a time
  std::string blocked_by;                 // the one of them that is leased; empty: none
  std::optional<std::uint64_t> remaining_ms = {};  // until its lease ends

  FERRY_FIELDS((name, kName), (description, kNested), (state, kName), (is_connected), (lease, kId), (holder, kText),
               (millidegrees, kMillidegrees), (is_throttled), (load_permille, kPermille), (transport, kName),
               (same_machine, kSameMachine), (blocked_by, kName), (remaining_ms, fields::Added{kSpan}));
};
struct DevicePage {
  std::vector<DeviceListing> devices;  // by name
  bool has_more = false;

  FERRY_FIELDS((devices, kPage), (has_more));
};

struct ListQueue {
  std::uint64_t after = 0;  // a request; 0: from the start

  FERRY_FIELDS((after, kId));
};
struct QueueListing {
  std::uint64_t request = 0;
  std::string holder;
  std::vector<std::string> selectors;
  std::uint32_t priority = 0;
  std::uint64_t waited_ms = 0;
  std::uint32_t place = 0;  // as in Waiting
  std::optional<std::uint64_t> expected_ms;
  // A leased board without whose lease the request could have another one, which is on the same machine; may be empty.
  std::string blocked_by;
  std::string job = {};  // as in LeaseRequest

  FERRY_FIELDS((request, kId), (holder, kText), (selectors, kSelectors), (priority), (waited_ms, kSpan), (place),
               (expected_ms, kSpan), (blocked_by, kName), (job, kText));
};
struct QueuePage {
  std::vector<QueueListing> requests;  // in the order in which they are considered
  bool has_more = false;

  FERRY_FIELDS((requests, kPage), (has_more));
};

struct ListLeases {
  std::uint64_t after = 0;  // a lease; 0: from the start

  FERRY_FIELDS((after, kId));
};
struct LeaseListing {
  std::uint64_t lease = 0;
  std::string holder;
  std::vector<std::string> boards;
  LeaseKind kind = LeaseKind::attached;
  std::uint64_t remaining_ms = 0;
  std::string job = {};  // as in LeaseRequest

  FERRY_FIELDS((lease, kId), (holder, kText), (boards, kNames), (kind, kLeaseKind), (remaining_ms, kSpan),
               (job, kText));
};
struct LeasePage {
  std::vector<LeaseListing> leases;  // by id
  bool has_more = false;

  FERRY_FIELDS((leases, kPage), (has_more));
};

// Leases that have ended, newest first, and requests that ended without one.
struct ListHistory {
  std::string board;   // empty: of all
  std::string holder;  // empty: of all
  // The last element of the page before; 0: from the newest.
  std::uint64_t before_ended_ms = 0;
  std::uint64_t before_lease = 0;

  FERRY_FIELDS((board, kName), (holder, kText), (before_ended_ms), (before_lease, kId));
};
// Times are milliseconds since 1970, in UTC.
struct HistoryListing {
  std::uint64_t lease = 0;
  std::string holder;
  std::vector<std::string> selectors;
  std::vector<std::string> boards;  // none: the request never got any
  std::uint32_t priority = 0;
  LeaseKind kind = LeaseKind::attached;
  std::uint64_t submitted_ms = 0;
  std::optional<std::uint64_t> started_ms;
  std::uint64_t ended_ms = 0;
  std::string reason;         // as in Ended
  std::string failure_class;  // as in Ended
  std::string text;
  std::string job = {};  // as in LeaseRequest

  FERRY_FIELDS((lease, kId), (holder, kText), (selectors, kSelectors), (boards, kNames), (priority), (kind, kLeaseKind),
               (submitted_ms, kTime), (started_ms, kTime), (ended_ms, kTime), (reason, kName), (failure_class, kName),
               (text, kText), (job, kText));
};
struct HistoryPage {
  std::vector<HistoryListing> leases;
  bool has_more = false;

  FERRY_FIELDS((leases, kPage), (has_more));
};

// What people did to the farm, newest first.
struct ListAudit {
  std::string board;         // empty: all
  std::uint64_t before = 0;  // a number; 0: from the newest

  FERRY_FIELDS((board, kName), (before));
};
struct AuditListing {
  std::uint64_t number = 0;
  std::uint64_t at_ms = 0;
  std::string actor;
  std::string action;  // "retire", for example
  std::string board;   // may be empty
  std::string text;

  FERRY_FIELDS((number), (at_ms, kTime), (actor, kText), (action, kName), (board, kName), (text, kText));
};
struct AuditPage {
  std::vector<AuditListing> entries;
  bool has_more = false;

  FERRY_FIELDS((entries, kPage), (has_more));
};

// Health checks of a board, newest first.
struct ListHealth {
  std::string board;
  std::uint64_t before = 0;  // a number; 0: from the newest

  FERRY_FIELDS((board, kName), (before));
};
struct HealthListing {
  std::uint64_t number = 0;
  std::uint64_t at_ms = 0;
  std::string job;                // "compute", "memory" or "ping"
  std::uint64_t picoseconds = 0;  // median; 0: it failed
  std::uint64_t baseline_picoseconds = 0;
  std::string verdict;  // "passed", "failed", or "measuring" until there is a baseline
  std::optional<std::int32_t> millidegrees;
  std::string text;

  FERRY_FIELDS((number), (at_ms, kTime), (job, kName), (picoseconds, kPicoseconds),
               (baseline_picoseconds, kPicoseconds), (verdict, kName), (millidegrees, kMillidegrees), (text, kText));
};
struct HealthPage {
  std::vector<HealthListing> checks;
  bool has_more = false;

  FERRY_FIELDS((checks, kPage), (has_more));
};

// Sessions that have ended on a board, newest first.
struct ListSessions {
  std::string board;
  std::uint64_t before = 0;  // a number; 0: from the newest

  FERRY_FIELDS((board, kName), (before));
};
struct SessionListing {
  std::uint64_t number = 0;
  std::uint64_t ended_ms = 0;
  std::uint64_t length_ms = 0;
  std::uint64_t lease = 0;
  std::string holder;
  std::string client;
  std::string failure;  // a crash report, for example; empty: its client ended it

  FERRY_FIELDS((number), (ended_ms, kTime), (length_ms, kSpan), (lease, kId), (holder, kText), (client, kText),
               (failure, kReport));
};
struct SessionPage {
  std::vector<SessionListing> sessions;
  bool has_more = false;

  FERRY_FIELDS((sessions, kPage), (has_more));
};

// What a credential is for, and what its holder may do. The values are also stored.
enum class CredentialKind : std::uint8_t { client = 1, board = 2, token = 3, enrolment = 4 };
inline constexpr Word<CredentialKind> kCredentialKinds[] = {{"client", CredentialKind::client},
                                                            {"board", CredentialKind::board},
                                                            {"token", CredentialKind::token},
                                                            {"enrolment", CredentialKind::enrolment}};
inline constexpr fields::Worded<kCredentialKinds> kCredentialKind;
enum class Role : std::uint8_t { viewer = 1, user = 2, admin = 3 };
inline constexpr Word<Role> kRoles[] = {{"viewer", Role::viewer}, {"user", Role::user}, {"admin", Role::admin}};
inline constexpr fields::Worded<kRoles> kRole;

// For admins.
struct ListCredentials {
  std::uint32_t after = 0;  // so many are left out

  FERRY_FIELDS((after));
};
struct CredentialListing {
  CredentialKind kind = CredentialKind::client;
  std::string name;  // the board's, or in whose name the leases of a client or token are
  Role role = Role::user;
  std::optional<std::uint64_t> revoked_ms;
  std::optional<std::uint64_t> expires_ms = {};  // nothing: it does not

  FERRY_FIELDS((kind, kCredentialKind), (name, kText), (role, kRole), (revoked_ms, kTime), (expires_ms, kTime));
};
struct CredentialPage {
  std::vector<CredentialListing> credentials;
  bool has_more = false;

  FERRY_FIELDS((credentials, kPage), (has_more));
};

struct Done {};

enum class BoardOrder : std::uint8_t { maintain = 1, retire = 2, return_to_service = 3 };
inline constexpr Word<BoardOrder> kOrders[] = {
    {"maintain", BoardOrder::maintain}, {"retire", BoardOrder::retire}, {"return", BoardOrder::return_to_service}};
inline constexpr fields::Worded<kOrders> kOrder;

// From admins. A running lease goes on.
struct OrderBoard {
  std::string board;
  BoardOrder order = BoardOrder::maintain;

  FERRY_FIELDS((board, kName), (order, kOrder));
};

// Ends a lease or cancels a request: an admin of anybody, others their own.
struct EndLease {
  std::uint64_t lease = 0;

  FERRY_FIELDS((lease, kId));
};

// From admins. The key in the answer is the first one of a board, with which it gets its own; it can be asked for
// again.
struct EnrolBoard {
  std::string name;
  std::vector<Label> tags;
  // Boards of the same machine exclude each other. Without a name, boards with the same boot id are on one machine.
  std::string machine;
  bool shares_machine = false;  // it may be used together with the others

  FERRY_FIELDS((name, kName), (tags, kTags), (machine, kOptionalName), (shares_machine));
};
// From admins: the key of a new client, in whose name its leases are.
struct AddClient {
  std::string holder;
  Role role = Role::user;

  FERRY_FIELDS((holder, kText), (role, kRole));
};
struct KeyMade {
  secure::KeyBytes psk;

  FERRY_FIELDS((psk, kBytes));
};

// From admins: a token for the page and the HTTP interface.
struct AddToken {
  std::string holder;
  Role role = Role::user;
  std::uint64_t lasts_ms = 0;  // from now on; 0: until it is revoked

  FERRY_FIELDS((holder, kText), (role, kRole), (lasts_ms, kSpan));
};
struct TokenMade {
  std::string token;  // never shown again

  FERRY_FIELDS((token, kName));
};

// How busy the farm is.
struct Summarize {
  FERRY_FIELDS();
};
struct FarmSummary {
  std::uint32_t boards = 0;  // without those that are retired
  std::uint32_t connected = 0;
  std::uint32_t leased = 0;
  std::uint32_t waiting = 0;          // requests
  std::uint64_t longest_wait_ms = 0;  // the longest among those that wait

  FERRY_FIELDS((boards), (connected), (leased), (waiting), (longest_wait_ms, kSpan));
};

struct RevokeCredential {
  CredentialKind kind = CredentialKind::client;
  std::string name;

  FERRY_FIELDS((kind, kCredentialKind), (name, kText));
};

}  // namespace ferry::farm::wire
