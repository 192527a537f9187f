#include "tests/support/farm/world.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace ferry::test {
namespace {

constexpr std::size_t kTraced = 300;

}  // namespace

std::uint64_t Random::draw() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
  return z ^ (z >> 31U);
}

void World::after(Delay delay, std::function<void()> what) {
  scheduled_.push_back({now + std::max(delay, Delay::zero()), order_++, std::move(what)});
  std::push_heap(scheduled_.begin(), scheduled_.end());
}

bool World::step() {
  if (scheduled_.empty()) return false;
  std::pop_heap(scheduled_.begin(), scheduled_.end());
  const Scheduled next = std::move(scheduled_.back());
  scheduled_.pop_back();
  now = next.at;
  ++events;
  next.what();
  return true;
}

void World::run_until(TrueTime time) {
  while (!scheduled_.empty() && scheduled_.front().at <= time) step();
  now = std::max(now, time);
}

void World::trace(const char* what, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (traced_.size() < kTraced) {
    traced_.push_back({now, what, a, b, c});
    return;
  }
  traced_[next_traced_] = {now, what, a, b, c};
  next_traced_ = (next_traced_ + 1) % kTraced;
}

void World::fail(const std::string& message) const {
  std::string text = message + "\nthe last events:\n";
  for (std::size_t i = 0; i < traced_.size(); ++i) {
    const Traced& one = traced_[(next_traced_ + i) % traced_.size()];
    text += format("%12.3f s  %s %llu %llu %llu\n", static_cast<double>(one.at.time_since_epoch().count()) / 1000,
                   one.what, static_cast<unsigned long long>(one.a), static_cast<unsigned long long>(one.b),
                   static_cast<unsigned long long>(one.c));
  }
  throw SimulationFailure(text + format("after %llu events: ", static_cast<unsigned long long>(events)) + message);
}

}  // namespace ferry::test
