// Limits how often tokens may be tried, for each address and for all together.
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
  RateLimit(TryRate by_address, TryRate global) : by_address_(by_address), global_(global) {}

  // Whether neither bucket is empty. Any thread.
  bool has_try(const std::string& address, TimePoint now);
  // Takes a try of both, for one that has failed. Any thread.
  void take(const std::string& address, TimePoint now);

  // Number of addresses that are remembered at a time; others share one bucket.
  static constexpr std::size_t kAddresses = 4096;

 private:
  struct Bucket {
    double tries = 0;
    TimePoint at;
  };

  void start(TimePoint now);
  static void fill(Bucket& bucket, const TryRate& rate, TimePoint now);
  Bucket& bucket_of(const std::string& address, TimePoint now);
  void forget_full(TimePoint now);

  TryRate by_address_;
  TryRate global_;
  std::mutex mutex_;
  Bucket all_;
  Bucket others_;
  bool started_ = false;
  std::unordered_map<std::string, Bucket> buckets_;
};

// Returns what counts as one address, which is an IPv4 address or the network of 64 bits of an IPv6 address.
std::string rate_key(const std::string& address);

}  // namespace ferry::farm::http
