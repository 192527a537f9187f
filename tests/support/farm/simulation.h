// A farm in virtual time: two trackers over one store, boards, clients, and faults of all of them. Phases with faults
// alternate with quiet ones, after which every request must have had its answer and every lease its end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/farm/simulated_board.h"
#include "tests/support/farm/simulated_client.h"
#include "tests/support/farm/simulated_store.h"
#include "tests/support/farm/simulated_tracker.h"

namespace ferry::test {

struct SimulationCounts {
  std::uint64_t events = 0, sessions = 0, leases = 0, answers = 0, extensions = 0;
};

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed);

  // Runs at least so many events, and the quiet phase after them. Throws SimulationFailure.
  void run(std::uint64_t events);
  SimulationCounts counts() const;

 private:
  void run_with_faults(TrueTime until);
  void run_quietly();
  void expect_nothing_locked();
  void inject_fault();
  void break_tracker();
  void break_board();
  void break_network();
  void break_store();
  void disturb_pool();
  void check_health();
  void copy_key();
  void handle(const farm::Event& event);

  World world_;
  Network network_;
  Oracle oracle_;
  SimulatedStore store_;
  std::vector<std::unique_ptr<SimulatedTracker>> trackers_;
  std::vector<std::unique_ptr<SimulatedBoard>> boards_;
  std::unique_ptr<SimulatedBoard> copy_;  // a copy of the last board, with its key
  std::vector<std::unique_ptr<SimulatedClient>> clients_;
  std::vector<Node> nodes_;
  bool has_faults_ = false;
  std::map<std::pair<farm::LeaseId, lease::Epoch>, TrueTime> unheard_;  // leases, since when they are known
};

}  // namespace ferry::test
