#include "host/farm/http/site/rate_limit.h"

#include <arpa/inet.h>

#include <algorithm>

namespace ferry::farm::http {

void RateLimit::fill(Bucket& bucket, const TryRate& rate, TimePoint now) {
  const double seconds = std::chrono::duration<double>(now - bucket.at).count();
  bucket.tries = std::min(rate.burst, bucket.tries + std::max(seconds, 0.0) * rate.per_second);
  bucket.at = now;
}

void RateLimit::forget_full(TimePoint now) {
  for (auto entry = buckets_.begin(); entry != buckets_.end();) {
    fill(entry->second, by_address_, now);
    entry = entry->second.tries >= by_address_.burst ? buckets_.erase(entry) : std::next(entry);
  }
}

RateLimit::Bucket& RateLimit::bucket_of(const std::string& address, TimePoint now) {
  const auto found = buckets_.find(address);
  if (found != buckets_.end()) return found->second;
  if (buckets_.size() >= kAddresses) forget_full(now);
  if (buckets_.size() >= kAddresses) return others_;
  return buckets_.emplace(address, Bucket{by_address_.burst, now}).first->second;
}

void RateLimit::start(TimePoint now) {
  if (started_) return;
  all_ = {global_.burst, now};
  others_ = {by_address_.burst, now};
  started_ = true;
}

bool RateLimit::has_try(const std::string& address, TimePoint now) {
  const std::lock_guard lock(mutex_);
  start(now);
  fill(all_, global_, now);
  if (all_.tries < 1) return false;
  const auto found = buckets_.find(address);
  if (found == buckets_.end() && buckets_.size() < kAddresses) return true;
  Bucket& own = found == buckets_.end() ? others_ : found->second;
  fill(own, by_address_, now);
  return own.tries >= 1;
}

void RateLimit::take(const std::string& address, TimePoint now) {
  const std::lock_guard lock(mutex_);
  start(now);
  Bucket& own = bucket_of(address, now);
  fill(own, by_address_, now);
  fill(all_, global_, now);
  own.tries = std::max(own.tries - 1, 0.0);
  all_.tries = std::max(all_.tries - 1, 0.0);
}

std::string rate_key(const std::string& address) {
  in6_addr v6{};
  if (inet_pton(AF_INET6, address.c_str(), &v6) != 1 || IN6_IS_ADDR_V4MAPPED(&v6)) return address;
  return {reinterpret_cast<const char*>(v6.s6_addr), 8};
}

}  // namespace ferry::farm::http
