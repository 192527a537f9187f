#include "host/farm/relay/relay.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/format.h"

namespace ferry::farm {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

Result<std::unique_ptr<Relay>> Relay::start(const RelayLimits& limits) {
  const auto failed = [](const char* why) {
    return Status(ErrorCode::resource_exhausted, format("cannot start the relay: %s", why));
  };
  Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake.number() < 0) return failed(std::strerror(errno));
  std::unique_ptr<Relay> relay(new Relay(limits, std::move(wake)));
  try {
    relay->thread_ = std::thread([loop = &relay->loop_] { loop->run(); });
  } catch (const std::system_error& error) {
    return failed(error.what());
  }
  return relay;
}

Relay::Relay(const RelayLimits& limits, Descriptor wake)
    : limits_(limits), wake_(loop_, wake.release()), bandwidth_(loop_, limits.all_bytes_per_second) {
  await_wake();
  drop_idle();
}

Status Relay::add(Descriptor client, Descriptor board) {
  const std::lock_guard lock(mutex_);
  if (is_stopping_) return {ErrorCode::unavailable, "the relay is stopping"};
  if (active_ >= limits_.relays)
    return {ErrorCode::busy, format("%zu connections are being relayed already", limits_.relays)};
  ++active_;
  arrived_.emplace_back(std::move(client), std::move(board));
  wake();
  return {};
}

void Relay::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    wake();
  }
  if (!thread_.joinable()) return;
  thread_.join();
  arrived_.clear();
}

void Relay::wake() const {
  const std::uint64_t one = 1;
  // Fails only if the thread has been woken very often and has not looked yet.
  (void)!::write(wake_.number(), &one, sizeof one);
}

void Relay::await_wake() {
  wake_.when_readable([this] { take_arrived(); });
}

void Relay::take_arrived() {
  std::uint64_t count = 0;
  (void)!::read(wake_.number(), &count, sizeof count);
  std::vector<Sockets> arrived;
  bool is_stopping = false;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
    is_stopping = is_stopping_;
  }
  for (Sockets& sockets : arrived) begin(std::move(sockets));
  if (!is_stopping) return await_wake();
  for (const auto& pair : std::list(pairs_)) pair->end();
  bandwidth_.stop();
  loop_.stop();
}

void Relay::begin(Sockets sockets) {
  const auto place = pairs_.insert(
      pairs_.end(), std::make_shared<RelayedPair>(loop_, std::move(sockets.first), std::move(sockets.second),
                                                  limits_.bytes_per_second, bandwidth_, forwarded_));
  const std::shared_ptr<RelayedPair> pair = *place;
  pair->start([this, place] {
    pairs_.erase(place);
    --active_;
  });
}

void Relay::drop_idle() {
  for (const auto& pair : std::list(pairs_)) {
    if (Clock::now() - pair->last_active() >= limits_.idle) pair->end();
  }
  idle_timer_.start(std::clamp(limits_.idle / 4, milliseconds(1), milliseconds(1000)), [this] { drop_idle(); });
}

}  // namespace ferry::farm
