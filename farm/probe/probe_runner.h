// Asks boards again and again, by ssh and on threads of its own, how they are.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "farm/core/lease/ids.h"
#include "farm/core/lease/lock_file.h"
#include "farm/probe/board_report.h"

namespace ferry::farm {

struct ProbeOptions {
  std::chrono::milliseconds period = std::chrono::seconds(30);   // from the beginning of one probe to the next
  std::chrono::milliseconds timeout = std::chrono::seconds(15);  // the limit of one probe, with the login
  std::size_t at_once = 8;
};

class ProbeRunner {
 public:
  // Called on a thread of the runner.
  using OnReport = std::function<void(BoardId board, const std::string& address, Result<BoardReport> report)>;

  ProbeRunner(ProbeOptions options, OnReport on_report);
  // Cancels what is under way, and calls nobody from then on.
  ~ProbeRunner();
  ProbeRunner(const ProbeRunner&) = delete;
  ProbeRunner& operator=(const ProbeRunner&) = delete;

  // Any thread. Probes the board at once and then periodically, in place of its former address. The address must be a
  // valid one.
  void watch(BoardId board, const std::string& address);
  // Any thread. Probes a board that is watched again soon: a second after the last probe began, if that is over.
  void hurry(BoardId board, const KnownLocks& locks);
  // A probe that is under way may still be reported.
  void forget(BoardId board);

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  struct Watched {
    std::string address;
    SteadyTime next;
    SteadyTime begin;  // when the last probe began
    KnownLocks locks;
    bool is_running = false;
  };

  void work();
  Result<BoardReport> probe(const std::string& address, const KnownLocks& locks) const;

  const ProbeOptions options_;
  const OnReport on_report_;
  Descriptor cancelled_;  // readable once the runner stops

  std::mutex mutex_;  // guards all that follows
  std::condition_variable wake_;
  std::map<BoardId, Watched> boards_;
  bool is_stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace ferry::farm
