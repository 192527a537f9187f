// Measures the cost of a small operation against a ping-pong over bare sockets in the same run.
#pragma once

#include "bench/rpc/raw_peer.h"
#include "bench/support/comparison.h"
#include "host/client/state.h"

namespace ferry::bench {

template <class What>
double seconds_each(const What& what) {
  constexpr int kTimes = 2000;
  return seconds_of([&] {
           for (int i = 0; i < kTimes; ++i) what();
         }) /
         kTimes;
}

template <class What>
Comparison compare_to_pings(const What& what, RawPeer& raw) {
  return compare(25, [&] { return seconds_each(what); }, [&] { return seconds_each([&] { raw.ping(); }); });
}

inline Comparison compare_pings(session::Client& client, RawPeer& raw) {
  return compare_to_pings([&] { client.call(rpc::Ping{}); }, raw);
}

}  // namespace ferry::bench
