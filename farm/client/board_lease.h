// A lease of one or several boards of a farm, kept alive by a thread of its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "farm/client/farm_access.h"
#include "farm/client/job.h"
#include "farm/client/lease_status.h"

namespace ferry::farm {

struct LeaseOptions {
  std::vector<std::string> selectors;  // one for each board
  std::uint32_t priority = 50;         // 0 to 100
  // Without a length, or if `is_extended`, the lease lasts for as long as it is wanted: it is extended again and again,
  // unless others wait.
  std::optional<std::chrono::milliseconds> length = {};
  std::chrono::milliseconds wait = std::chrono::hours(7 * 24);  // for the boards, at most
  wire::LeaseKind kind = wire::LeaseKind::attached;
  bool is_extended = false;
  std::string job = job_of_environment();  // what it is for, for people
};

struct LeaseObserver {
  // Called while the request waits, on the thread that waits.
  std::function<void(const wire::Waiting&)> waiting = {};
  // Called while the request waits, several times a second, on the same thread; true cancels it.
  std::function<bool()> is_cancelled = {};
  // Receives what the user should know, such as that the lease will end soon, on another thread; and, on the one that
  // waits, that no board could be handed out whoever waits, at once and each minute.
  std::function<void(const std::string& line)> notice = {};
};

// All functions may be called on any thread.
class BoardLease {
 public:
  // Waits until the boards are granted. Fails with invalid_argument if no board could ever serve the request, with busy
  // if none became available in time, with aborted if it was cancelled, and otherwise as TrackerConnection::open().
  static Result<std::unique_ptr<BoardLease>> request(const FarmAccess& farm, const LeaseOptions& options,
                                                     LeaseObserver observer = {});
  // An attached lease ends with the object, a reserved one does not.
  ~BoardLease();
  BoardLease(const BoardLease&) = delete;
  BoardLease& operator=(const BoardLease&) = delete;

  std::uint64_t id() const;
  const std::vector<wire::GrantedSlot>& slots() const;
  // How long the lease lasts at least, as far as is known.
  std::chrono::milliseconds remaining() const;

  // Returns for how long the lease now lasts at least. Fails with busy if others wait for the board.
  Result<std::chrono::milliseconds> extend(std::chrono::milliseconds length);

  // Returns why the lease has ended; nothing while it lasts or after the timeout.
  std::optional<LeaseEnd> wait_for_end(std::chrono::milliseconds timeout) const;

  // Gives the boards back. Returns once the tracker has taken notice, or after a second.
  void release();

 private:
  class Worker;
  explicit BoardLease(std::unique_ptr<Worker> worker);

  std::unique_ptr<Worker> worker_;
};

}  // namespace ferry::farm
