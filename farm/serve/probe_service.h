// Asks boards by ssh for the tracker.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "farm/probe/probe_runner.h"
#include "farm/tracker/ssh_boards.h"
#include "rpc/server/event_loop.h"

namespace ferry::farm {

class ProbeService final : public BoardProber {
 public:
  explicit ProbeService(server::EventLoop& loop, const ProbeOptions& options = {});
  // Called on the loop with what has been found out; must be set before a board is watched.
  void set_receiver(std::function<void(const ProbedBoard&)> receiver) { shared_->receiver = std::move(receiver); }
  ~ProbeService() override { shared_->is_alive = false; }
  ProbeService(const ProbeService&) = delete;
  ProbeService& operator=(const ProbeService&) = delete;

  void watch(BoardId board, const std::string& address) override { runner_.watch(board, address); }
  void forget(BoardId board) override { runner_.forget(board); }
  void hurry(BoardId board, const KnownLocks& locks) override { runner_.hurry(board, locks); }

 private:
  // The loop's part, which reports that come too late find dead.
  struct Shared {
    std::function<void(const ProbedBoard&)> receiver;
    bool is_alive = true;
  };

  std::shared_ptr<Shared> shared_;
  ProbeRunner runner_;
};

}  // namespace ferry::farm
