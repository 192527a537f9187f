#include "farm/relay/relay.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/format.h"

namespace ferry::farm {
namespace {

std::size_t count_all(const std::map<std::uint64_t, std::size_t>& active) {
  std::size_t all = 0;
  for (const auto& [lease, relays] : active) all += relays;
  return all;
}

}  // namespace

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

Status Relay::add(std::uint64_t lease, Descriptor client, Descriptor board) {
  const std::lock_guard lock(mutex_);
  if (is_stopping_) return {ErrorCode::unavailable, "the relay is stopping"};
  if (count_all(active_) >= limits_.relays)
    return {ErrorCode::busy, format("%zu connections are being relayed already", limits_.relays)};
  ++active_[lease];
  arrived_.push_back({lease, std::move(client), std::move(board)});
  wake();
  return {};
}

void Relay::end(std::uint64_t lease) {
  const std::lock_guard lock(mutex_);
  if (!active_.contains(lease) || std::ranges::find(over_, lease) != over_.end()) return;
  over_.push_back(lease);
  wake();
}

std::size_t Relay::active() const {
  const std::lock_guard lock(mutex_);
  return count_all(active_);
}

std::map<std::uint64_t, std::size_t> Relay::leases() const {
  const std::lock_guard lock(mutex_);
  return active_;
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
  std::vector<Arrived> arrived;
  std::vector<std::uint64_t> over;
  bool is_stopping = false;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
    over.swap(over_);
    is_stopping = is_stopping_;
  }
  for (Arrived& one : arrived) begin(std::move(one));
  for (const auto& [lease, pair] : std::list(pairs_))
    if (is_stopping || std::ranges::find(over, lease) != over.end()) pair->end();
  if (!is_stopping) return await_wake();
  bandwidth_.stop();
  loop_.stop();
}

void Relay::begin(Arrived arrived) {
  const auto pair = std::make_shared<RelayedPair>(loop_, std::move(arrived.client), std::move(arrived.board),
                                                  limits_.bytes_per_second, bandwidth_, forwarded_);
  const auto place = pairs_.insert(pairs_.end(), {arrived.lease, pair});
  pair->start([this, place] {
    const std::uint64_t lease = place->lease;
    pairs_.erase(place);
    const std::lock_guard lock(mutex_);
    if (--active_[lease] == 0) active_.erase(lease);
  });
}

void Relay::drop_idle() {
  for (const auto& [lease, pair] : std::list(pairs_)) {
    if (Clock::now() - pair->last_active() >= limits_.idle) pair->end();
  }
  idle_timer_.start(std::clamp(limits_.idle / 4, milliseconds(1), milliseconds(1000)), [this] { drop_idle(); });
}

}  // namespace ferry::farm
