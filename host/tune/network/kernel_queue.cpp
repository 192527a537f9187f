#include "host/tune/network/kernel_queue.h"

#include <algorithm>
#include <cmath>

namespace ferry::tune {

namespace {

// A smaller gain may be noise.
constexpr double kGain = 0.01;
// So much less than what a kernel must leave to be gained is expected when the search ends by itself.
constexpr double kEnd = 1.0 / 64;

}  // namespace

KernelQueue::KernelQueue(std::vector<QueuedKernel> kernels) {
  for (const QueuedKernel& kernel : kernels) {
    if (!kernel.in_place_of) network_ += kernel.by_default;
    states_.push_back({kernel, kernel.in_place_of.value_or(states_.size()), kernel.by_default});
    best_.push_back(kernel.by_default);
  }
  for (State& state : states_) state.is_pruned = expected(state) <= kLeastShare * network_;
}

double KernelQueue::expected(const State& state) const {
  const double most = std::max(0.0, state.best - state.kernel.estimate);
  const double gain = std::max(most * std::exp2(-static_cast<double>(state.turns)), std::min(most, state.last_gain));
  return std::max(0.0, best_[state.by_default] - (state.best - gain));
}

std::optional<std::size_t> KernelQueue::next() const {
  std::optional<std::size_t> best;
  for (std::size_t k = 0; k < states_.size(); ++k) {
    if (states_[k].is_pruned || states_[k].has_ended) continue;
    if (expected(states_[k]) < kEnd * kLeastShare * network_) continue;
    if (!best || expected(states_[k]) > expected(states_[*best])) best = k;
  }
  return best;
}

void KernelQueue::report(std::size_t kernel, double best_share) {
  State& state = states_[kernel];
  const double seconds = state.kernel.by_default * best_share;
  // The first time of another algorithm takes the place of its estimate.
  if (state.kernel.in_place_of && state.turns == 0) state.best = seconds;
  ++state.turns;
  state.last_gain = seconds < state.best * (1 - kGain) ? state.best - seconds : 0;
  state.best = std::min(state.best, seconds);
  best_[state.by_default] = std::min(best_[state.by_default], state.best);
}

}  // namespace ferry::tune
