// Farms and their clients for the tests of faults, and what the clients have written down.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/paths.h"
#include "tests/support/farm_process/real_farm.h"

namespace ferry::test {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

inline RealFarmOptions farm_of(std::size_t boards, Database database = Database::sqlite, std::size_t trackers = 1) {
  RealFarmOptions options{FERRY_BINARY_DIR "/bin/ferry", FERRY_BINARY_DIR "/device-runtime/rpc_server", {}};
  options.database = database;
  options.boards = boards;
  options.trackers = trackers;
  return options;
}

// One lease of a client.
struct LeaseReport {
  struct Call {
    double sent = 0, received = 0;
  };
  std::string board;    // empty: it was not granted
  double granted = 0;   // seconds, as all times
  double over = 0;      // 0: the client was killed before
  std::string failure;  // why the request or a call failed
  std::vector<Call> calls;
};

// A client as a process: one lease after the other, or a single one.
class FaultClient {
 public:
  enum class Leases { many, one };
  FaultClient(const RealFarm& farm, const std::string& name, const std::string& selector, int hold_ms, Leases leases,
              int network_namespace = -1);

  Process& process() { return process_; }
  // All so far.
  std::vector<LeaseReport> leases() const;
  // Waits until its first lease has served a call, and returns the lease.
  LeaseReport wait_for_call(std::chrono::seconds timeout = std::chrono::seconds(20)) const;

 private:
  std::string report_;
  Process process_;
};

// "" if no two leases were served by one board at the same time: what was called in one lease before and after a call
// of another one.
std::string find_overlap(const std::vector<LeaseReport>& leases);

// "" if a board's log, in which it may have started several times, shows no session while another one lasts.
std::string find_double_session(const std::string& log);

// Signals a process and all that it has started, as if their host stopped.
void signal_host(const Process& process, int number);

}  // namespace ferry::test
