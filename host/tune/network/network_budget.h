// How the time for tuning a network is divided.
//
// The end of a run has four parts: the best schedules of each kernel are measured again, they run in the network, some
// get a second chance there, and the network is compared with the one that has default schedules. Large networks take
// long to compile and to load, so the search of a short run ends early enough for the shortest end.
#pragma once

#include <chrono>
#include <optional>

namespace ferry::tune {

// In seconds.
struct NetworkCosts {
  double compile = 0;  // to compile the network
  double session = 0;  // to load and call it in a session of its own
};

class NetworkBudget {
 public:
  // `seconds` for everything since now; 0: no limit. Without a comparison all of it is for the search.
  NetworkBudget(double seconds, bool compares) : seconds_(seconds), compares_(compares) {}

  // The search ends 0.65 of the budget after the start, or sooner if what these costs make of the end needs more, but
  // not before 0.4.
  void set_costs(const NetworkCosts& costs);
  double elapsed() const;
  // Returns the seconds that are left for the search; nothing if there is no limit.
  std::optional<double> search_seconds_left() const;

  using Until = std::optional<std::chrono::steady_clock::time_point>;
  // When each part should have ended; nothing if there is no limit.
  Until end_of_search() const { return at(compares_ ? end_of_search_ : 1); }
  Until end_of_ranking() const { return at(end_of_ranking_); }
  Until end_of_confirmation() const { return at(end_of_confirmation_); }
  Until end() const { return at(1); }
  bool is_after(Until until) const { return until && std::chrono::steady_clock::now() > *until; }

 private:
  Until at(double share) const;

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_;
  bool compares_;
  // Shares of the budget.
  double end_of_search_ = 0.65, end_of_ranking_ = 0.75, end_of_confirmation_ = 0.87;
};

}  // namespace ferry::tune
