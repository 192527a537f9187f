// The requests that the interfaces of a tracker (its protocol and HTTP) may make to the farm behind it. Whether
// the caller may ask is decided there, so that every interface has the same rules.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "farm/protocol/messages.h"

namespace ferry::farm {

// Who asks: the holder of a key or of a token.
struct Caller {
  std::string holder;
  wire::Role role = wire::Role::viewer;
};

// Counts since the tracker's start, and the state of this moment, for monitoring.
struct FarmNumbers {
  std::map<std::string, std::uint64_t> boards_by_state;  // "good", "suspect", ..., as shown_state.h says
  std::uint64_t boards_connected = 0;
  std::uint64_t boards_leased = 0;
  std::uint64_t clients_connected = 0;
  std::uint64_t requests_waiting = 0;
  std::uint64_t leases_granted = 0;                      // in total
  std::map<std::string, std::uint64_t> ended_by_reason;  // in total, by the names of end_reason.h
  std::uint64_t refused_connections = 0;                 // in total: wrong keys and broken rules
  std::uint64_t relayed_bytes = 0;                       // in total
  double longest_commit_seconds = 0;                     // in the last minute
  bool is_scheduling = false;                            // false: another tracker does
  std::string read_only_reason;                          // empty: the database can be written
};

class Farm {
 public:
  virtual ~Farm() = default;

  // One for each query of farm/protocol/queries.h, callable on any thread. Waits for the answer for some seconds: fails
  // with unavailable if there is none by then, or if this tracker stands by. Other failures: unauthenticated for a role
  // that may not ask this, not_found and invalid_argument for what the request names.
#define FERRY_ASK(tag, request, reply, name, directions) \
  virtual Result<wire::reply> ask(const Caller& caller, const wire::request& query) = 0;
  FERRY_FARM_QUERIES(FERRY_ASK)
#undef FERRY_ASK

  // One board by its name. Fails like ask(); not_found if there is none.
  virtual Result<wire::DeviceListing> find_board(const Caller& caller, const std::string& name) = 0;

  // Whose this token is. Fails with unauthenticated if it is unknown or revoked. Any thread.
  virtual Result<Caller> find_token(std::string_view token) = 0;

  virtual Result<FarmNumbers> numbers() = 0;

  // Increases whenever the answer to a listing of boards, leases or waiting requests changes, though not with each
  // heartbeat. Any thread.
  virtual std::uint64_t change_count() const = 0;
  // The listener, which must not wait, is called after each increase, on any thread; an empty one is never called. Once
  // this returns, the one before is not called any more. Any thread.
  virtual void set_change_listener(std::function<void()> listener) = 0;
};

}  // namespace ferry::farm
