// Limits a rate: https://en.wikipedia.org/wiki/Token_bucket. A bucket that has been full may be emptied at once, so
// that short transfers are not slowed down.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ferry::farm {

class TokenBucket {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // `per_second` must not be zero. The bucket is full at first.
  TokenBucket(std::uint64_t per_second, std::uint64_t capacity, TimePoint now)
      : per_second_(static_cast<double>(per_second)),
        capacity_(static_cast<double>(capacity)),
        tokens_(capacity_),
        filled_(now) {}

  std::uint64_t available(TimePoint now) {
    fill(now);
    return tokens_ < 1 ? 0 : static_cast<std::uint64_t>(tokens_);
  }
  // Requires that so many are available.
  void take(std::uint64_t tokens) { tokens_ -= static_cast<double>(tokens); }
  // Returns after which time so many are available, rounded up to milliseconds. Requires at most the capacity.
  std::chrono::milliseconds time_until(std::uint64_t tokens, TimePoint now) {
    fill(now);
    const double missing = static_cast<double>(tokens) - tokens_;
    if (missing <= 0) return std::chrono::milliseconds(0);
    return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(missing / per_second_));
  }

 private:
  void fill(TimePoint now) {
    const double seconds = std::chrono::duration<double>(now - filled_).count();
    if (seconds <= 0) return;
    tokens_ = std::min(capacity_, tokens_ + seconds * per_second_);
    filled_ = now;
  }

  double per_second_, capacity_, tokens_;
  TimePoint filled_;
};

}  // namespace ferry::farm
