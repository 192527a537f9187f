// One session on a device that outlives what is tried in it. A server may have a place for one client only, so another
// session is opened when this one has been closed.
#pragma once

#include "ferry/bench/measure_options.h"
#include "ferry/client.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

// Threads may use it one after the other.
class KeptSession {
 public:
  explicit KeptSession(bench::NamedDevice device) : device_(std::move(device)) {}

  const std::string& name() const { return device_.name; }
  // Returns the session that is open, if it has these devices besides the CPU and ends calls after at least
  // `call_seconds`, but not much later. Otherwise opens another one; then nobody may hold anything of the last one any
  // more. Throws as connect().
  Device open(const std::vector<std::string>& devices, double call_seconds);
  // Ends it, once whoever holds something of it lets go.
  void close() { session_.reset(); }
  // Returns how many were opened so far.
  std::uint64_t opened() const { return opened_; }

 private:
  struct Session {
    Device device;
    std::vector<std::string> devices;
    double call_seconds;
  };

  bench::NamedDevice device_;
  std::optional<Session> session_;
  std::uint64_t opened_ = 0;
};

}  // namespace ferry::tune
