#include "farm/web/site/rate_limit.h"

#include <arpa/inet.h>

#include <algorithm>

namespace ferry::farm::http {

void RateLimit::fill(Bucket& bucket, TimePoint now) const {
  const double seconds = std::chrono::duration<double>(now - bucket.at).count();
  bucket.tries = std::min(by_address_.burst, bucket.tries + std::max(seconds, 0.0) * by_address_.per_second);
  bucket.at = now;
}

// Forgets those that are full, or else the one that is nearest to it.
void RateLimit::make_room(TimePoint now) {
  for (auto& [address, bucket] : buckets_) fill(bucket, now);
  if (std::erase_if(buckets_, [&](const auto& entry) { return entry.second.tries >= by_address_.burst; }) > 0) return;
  buckets_.erase(std::ranges::max_element(buckets_, {}, [](const auto& entry) { return entry.second.tries; }));
}

RateLimit::Bucket& RateLimit::bucket_of(const std::string& address, TimePoint now) {
  const auto found = buckets_.find(address);
  if (found != buckets_.end()) return found->second;
  if (buckets_.size() >= kAddresses) make_room(now);
  return buckets_.emplace(address, Bucket{by_address_.burst, now}).first->second;
}

bool RateLimit::has_try(const std::string& address, TimePoint now) {
  const std::lock_guard lock(mutex_);
  const auto found = buckets_.find(address);
  if (found == buckets_.end()) return true;
  fill(found->second, now);
  return found->second.tries >= 1;
}

void RateLimit::take(const std::string& address, TimePoint now) {
  const std::lock_guard lock(mutex_);
  Bucket& own = bucket_of(address, now);
  fill(own, now);
  own.tries = std::max(own.tries - 1, 0.0);
}

std::string rate_key(const std::string& address) {
  in6_addr v6{};
  if (inet_pton(AF_INET6, address.c_str(), &v6) != 1 || IN6_IS_ADDR_V4MAPPED(&v6)) return address;
  return {reinterpret_cast<const char*>(v6.s6_addr), 8};
}

}  // namespace ferry::farm::http
