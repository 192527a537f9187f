// Checks boards with the reference jobs, and judges what they measure, for the tracker.
#pragma once

#include <functional>
#include <memory>

#include "farm/checkup/health_history.h"
#include "farm/checkup/health_runner.h"
#include "farm/tracker/health_rounds.h"
#include "rpc/server/event_loop.h"

namespace ferry::farm {

class HealthService final : public HealthChecker {
 public:
  using Log = std::function<void(const std::string&)>;

  // The compiler must outlive this object. `now` is the time of entries; both are called on the loop.
  HealthService(server::EventLoop& loop, const Compiler& compiler, Log log, std::function<Time()> now);
  // Called on the loop with what each check has found; must be set before a check starts.
  void set_receiver(std::function<void(const CheckedBoard&)> receiver) { shared_->receiver = std::move(receiver); }
  ~HealthService() override { shared_->is_alive = false; }
  HealthService(const HealthService&) = delete;
  HealthService& operator=(const HealthService&) = delete;

  void load(const std::vector<HealthState>& states) override;
  Status start(BoardId board, const std::string& address, const secure::Key& psk, lease::Epoch epoch,
               const RelayRoute& relay) override;
  void cancel(BoardId board) override { runner_.cancel(board); }

 private:
  // The loop's part, which outcomes that come too late find dead.
  struct Shared {
    void take(const HealthOutcome& outcome);
    HealthHistory book;
    std::function<Time()> now;
    std::function<void(const CheckedBoard&)> receiver;
    bool is_alive = true;
  };

  Log log_;
  std::shared_ptr<Shared> shared_;
  HealthRunner runner_;
};

}  // namespace ferry::farm
