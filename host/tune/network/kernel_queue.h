// Decides which kernel of a network is tuned next: the one from which the most is to be expected.
//
// The most that can be gained is the time that a kernel takes in a call of the network above what an estimate says that
// the device needs for it. Each turn halves what is expected of the next one, which is at least what the last one
// found, so kernels with little to gain wait until the others have had several turns, and none waits forever. A kernel
// whose turns find a little each time waits as well: its best times may be lucky ones.
//
// A kernel with another algorithm has a place of its own. Its time is expected by estimates until it was measured, and
// what is expected of its turns is what they would find below the best time of all algorithms.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ferry::tune {

// The time of one kernel in a call of the network, over all nodes that it computes, in seconds.
struct QueuedKernel {
  double by_default = 0;  // with its default schedule; with another algorithm what estimates say of it
  double estimate = 0;    // the device takes at least so long; 0: not known
  // The earlier kernel that computes the same with the default algorithm: only what is faster than both counts.
  std::optional<std::size_t> in_place_of = {};
};

class KernelQueue {
 public:
  // Kernels of which the estimate leaves no more than this share of the network's time to be gained are pruned.
  static constexpr double kLeastShare = 0.002;

  explicit KernelQueue(std::vector<QueuedKernel> kernels);

  bool is_pruned(std::size_t kernel) const { return states_[kernel].is_pruned; }
  // Returns a kernel; nothing if all have ended, or nothing worth the time is expected any more.
  std::optional<std::size_t> next() const;
  // Takes the best share of `by_default` that is known of a kernel after a turn.
  void report(std::size_t kernel, double best_share);
  // The kernel needs no more turns: its space is used up, or it cannot be tuned.
  void end(std::size_t kernel) { states_[kernel].has_ended = true; }

 private:
  struct State {
    QueuedKernel kernel;
    std::size_t by_default = 0;  // the kernel with the default algorithm
    double best = 0;             // seconds
    unsigned turns = 0;
    double last_gain = 0;  // in seconds, of the last turn
    bool is_pruned = false, has_ended = false;
  };
  double expected(const State& state) const;

  std::vector<State> states_;
  std::vector<double> best_;  // seconds, by the kernel with the default algorithm
  double network_ = 0;        // seconds of all kernels
};

}  // namespace ferry::tune
