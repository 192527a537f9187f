#include "farm/relay/bandwidth.h"

#include <utility>

namespace ferry::farm {

using Clock = std::chrono::steady_clock;

std::uint64_t burst_of(std::uint64_t per_second) { return std::max(per_second / 10, Bandwidth::kLeast); }

Bandwidth::Bandwidth(server::EventLoop& loop, std::uint64_t per_second)
    : bucket_(per_second, burst_of(per_second), Clock::now()), timer_(loop) {}

void Bandwidth::wait_for_turn(server::Callback turn) {
  if (waiting_.empty() && available() >= kLeast) return turn();
  waiting_.push_back(std::move(turn));
  if (waiting_.size() == 1) serve();
}

void Bandwidth::serve() {
  while (!waiting_.empty() && available() >= kLeast) {
    const server::Callback turn = std::move(waiting_.front());
    waiting_.pop_front();
    turn();
  }
  if (!waiting_.empty()) timer_.start(bucket_.time_until(kLeast, Clock::now()), [this] { serve(); });
}

void Bandwidth::stop() {
  timer_.cancel();
  waiting_.clear();
}

}  // namespace ferry::farm
