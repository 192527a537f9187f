// A lease machine with boards and clients that do as they are told at once, unless a test says otherwise.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "farm/core/lease/lease_machine.h"
#include "farm/core/lease/limits.h"
#include "tests/support/farm/record_tables.h"

namespace ferry::test {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

inline farm::BoardId board_id(std::uint64_t number) { return farm::BoardId{number}; }
inline farm::LeaseId lease_id(std::uint64_t number) { return farm::LeaseId{number}; }
// The first connection of a board has its number.
inline farm::BoardConnection board_link(std::uint64_t number) { return farm::BoardConnection{number}; }
inline farm::ClientConnection client_link(std::uint64_t number) { return farm::ClientConnection{number}; }

class MachineDriver {
 public:
  explicit MachineDriver(bool has_health_checks = false) { start({has_health_checks}); }

  // A machine of the next term continues from what is persisted.
  void restart() { start(options_); }

  void pass(farm::Duration duration) { run_until(now + duration); }
  void run_until(farm::Time time);
  void handle(const farm::Event& event);
  void persist() {
    while (persisted < commits) handle(farm::Persisted{++persisted});
  }

  // Boards b1, b2, ... of model rpi4.
  void enrol(std::uint64_t number, const std::string& machine = "", bool shares_machine = false);
  farm::BoardJoined joining(std::uint64_t number, std::uint64_t connection, std::uint64_t boot_id = 1) const;
  void join(std::uint64_t number) { handle(joining(number, number)); }
  void heartbeat(std::uint64_t connection, std::optional<std::int32_t> millidegrees = {}, bool is_throttled = false) {
    handle(farm::BoardHeartbeat{board_link(connection), boot_time(), millidegrees, is_throttled, 0});
  }
  // The boards that joined when the store's clock showed 0 started then.
  lease::BootTime boot_time() const { return lease::BootTime(now.time_since_epoch()); }

  static farm::Request request(std::uint64_t id, const std::string& holder,
                               const std::vector<std::string>& selectors = {"rpi4"});
  // Submits on the client's connection of the same number.
  void submit(const farm::Request& request) {
    handle(farm::RequestSubmitted{client_link(static_cast<std::uint64_t>(request.id)), request});
  }
  void submit(std::uint64_t id, const std::string& holder, const std::vector<std::string>& selectors = {"rpi4"}) {
    submit(request(id, holder, selectors));
  }

  // What the client of a request heard last.
  bool is_granted(std::uint64_t id) const { return granted.contains(lease_id(id)) && !ended.contains(lease_id(id)); }
  std::string end_of(std::uint64_t id) const {
    const auto found = ended.find(lease_id(id));
    return found == ended.end() ? "" : farm::end_reason_name(found->second.reason);
  }
  std::vector<std::uint64_t> boards_of(std::uint64_t id) const {
    std::vector<std::uint64_t> boards;
    for (const farm::LeasePart& part : granted.at(lease_id(id)).parts)
      boards.push_back(static_cast<std::uint64_t>(part.board));
    return boards;
  }
  template <class Kind>
  std::vector<Kind> sent() const {
    std::vector<Kind> kinds;
    for (const farm::Action& action : actions)
      if (const auto* kind = std::get_if<Kind>(&action)) kinds.push_back(*kind);
    return kinds;
  }

  std::unique_ptr<farm::LeaseMachine> machine;
  farm::Time now{};
  RecordTables store;
  bool persists = true;      // at once
  bool acknowledges = true;  // boards do, at once
  bool keeps_alive = true;   // boards and clients do
  std::uint64_t commits = 0, persisted = 0;
  std::vector<farm::Action> actions;  // all since the last clear()
  std::map<farm::LeaseId, farm::TellGranted> granted;
  std::map<farm::LeaseId, farm::TellEnded> ended;
  std::map<farm::LeaseId, farm::TellWaiting> waiting;
  std::map<farm::BoardConnection, lease::LeaseKey> serving;

 private:
  void start(const farm::Options& options);
  void carry_out(const farm::Action& action);

  farm::Options options_;
  std::uint64_t term_ = 0;
  std::vector<farm::BoardConnection> board_links_;
  std::vector<farm::ClientConnection> client_links_;
};

}  // namespace ferry::test
