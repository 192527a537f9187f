// A tracker on a free port of this machine, with its loop on a thread of its own, and the key of its first admin.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "farm/client/board_lease.h"
#include "farm/client/farm_client.h"
#include "farm/tracker/health_rounds.h"
#include "farm/tracker/tracker.h"
#include "rpc/server/event_loop.h"
#include "tests/support/farm_peers/test_board.h"

namespace ferry::test {

class RunningTracker {
 public:
  explicit RunningTracker(std::unique_ptr<farm::Store> store, farm::TrackerOptions options = {});
  // Stops it.
  ~RunningTracker();
  RunningTracker(const RunningTracker&) = delete;
  RunningTracker& operator=(const RunningTracker&) = delete;

  TcpAddress address() const;
  farm::Farm& farm() { return tracker_->farm(); }
  // Waits until there is an admin.
  farm::FarmAccess admin();
  farm::FarmAccess access(const secure::Key& key) const;
  // A new client in this name. Fails the test if that is refused.
  farm::FarmAccess add_client(const std::string& holder, farm::wire::Role role = farm::wire::Role::user);
  // The key of a board's enrolment, and its own, which it has after it has joined once.
  secure::Key enrol(const std::string& name, std::vector<farm::wire::Label> tags = {});
  secure::Key board_key(const std::string& name, std::vector<farm::wire::Label> tags = {});
  std::unique_ptr<TestBoard> join(const secure::Key& key, std::uint64_t boot_id = 1);
  // Tells the tracker what a check has found.
  void checked(const farm::CheckedBoard& checked);
  // Runs on the loop, before this returns.
  void on_loop(const std::function<void(farm::Tracker&)>& work);
  // The lines of the log so far.
  std::vector<std::string> log() const;
  bool wait_for_log(const std::string& part) const;

 private:
  server::EventLoop loop_;
  mutable std::mutex mutex_;  // guards the next two
  mutable std::condition_variable changed_;
  std::optional<secure::Key> admin_;
  std::vector<std::string> log_;
  std::unique_ptr<farm::Tracker> tracker_;
  std::thread thread_;
};

}  // namespace ferry::test
