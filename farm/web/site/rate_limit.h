// Limits how often each address may try tokens. There is no limit for all addresses together, and none that several
// share: whoever knows no token would lock out those who do. Tokens are too long to be guessed from many addresses.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

namespace ferry::farm::http {

using TimePoint = std::chrono::steady_clock::time_point;

// A bucket of tries: full at first, empty after so many at once, and filled again at a steady rate.
struct TryRate {
  double burst = 0;
  double per_second = 0;
};

class RateLimit {
 public:
  explicit RateLimit(TryRate by_address) : by_address_(by_address) {}

  // Whether the address's bucket is not empty. Any thread.
  bool has_try(const std::string& address, TimePoint now);
  // Takes a try, for one that has failed. Any thread.
  void take(const std::string& address, TimePoint now);

  // Number of addresses that are remembered at a time. The one with the most tries makes room for another.
  static constexpr std::size_t kAddresses = 4096;

 private:
  struct Bucket {
    double tries = 0;
    TimePoint at;
  };

  void fill(Bucket& bucket, TimePoint now) const;
  Bucket& bucket_of(const std::string& address, TimePoint now);
  void make_room(TimePoint now);

  TryRate by_address_;
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
};

// Returns what counts as one address, which is an IPv4 address or the network of 64 bits of an IPv6 address.
std::string rate_key(const std::string& address);

}  // namespace ferry::farm::http
