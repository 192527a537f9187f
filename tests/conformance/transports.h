// A list of all transports, so that one suite runs over all of them: a new transport is added here and conforms once
// the suite passes.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "rpc/transport/transport.h"

namespace ferry {

using TransportPair = std::pair<std::unique_ptr<Transport>, std::unique_ptr<Transport>>;

struct TransportKind {
  const char* name;
  TransportPair (*connect)();
};

inline constexpr std::size_t kTransportKinds = 6;
extern const TransportKind kAllTransports[kTransportKinds];

// A thread that is joined when this object goes out of scope, also when a REQUIRE leaves the test.
class Background {
 public:
  explicit Background(std::function<void()> work) : thread_(std::move(work)) {}
  ~Background() { join(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace ferry
