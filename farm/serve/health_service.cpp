#include "farm/serve/health_service.h"

#include <asio/post.hpp>
#include <utility>

namespace ferry::farm {
namespace {

CheckedBoard::Result result_of(const std::optional<HealthVerdict>& verdict) {
  if (!verdict) return CheckedBoard::Result::unknown;
  switch (*verdict) {
    case HealthVerdict::learning:
    case HealthVerdict::passed: return CheckedBoard::Result::passed;
    case HealthVerdict::unconfirmed: return CheckedBoard::Result::again;
    case HealthVerdict::failed: return CheckedBoard::Result::failed;
  }
  return CheckedBoard::Result::unknown;
}

}  // namespace

HealthService::HealthService(server::EventLoop& loop, const Compiler& compiler, Log log, std::function<Time()> now)
    : log_(std::move(log)),
      shared_(std::make_shared<Shared>()),
      runner_(compiler, HealthOptions{}, [&loop, shared = shared_](const HealthOutcome& outcome) {
        asio::post(loop.context(), [shared, outcome] { shared->take(outcome); });
      }) {
  shared_->now = std::move(now);
}

void HealthService::load(const std::vector<HealthState>& states) {
  for (const std::string& damage : shared_->book.load(states)) log_(damage);
}

Status HealthService::start(BoardId board, const std::string& address, const secure::Key& psk, lease::Epoch epoch,
                            const RelayRoute& relay) {
  return runner_.start({board, address, psk, epoch, relay});
}

void HealthService::Shared::take(const HealthOutcome& outcome) {
  if (!is_alive || !receiver) return;
  JudgedCheck judged = book.judge(outcome, now());
  CheckedBoard checked{outcome.board,        result_of(judged.verdict), std::move(judged.reason),
                       outcome.millidegrees, std::move(judged.entries), {}};
  if (judged.verdict) checked.state = std::move(judged.state);
  receiver(checked);
}

}  // namespace ferry::farm
