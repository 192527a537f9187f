#include "host/tune/network/network_task.h"

#include <algorithm>

namespace ferry::tune {

std::vector<NetworkTask> tasks_of(const std::vector<NetworkProgram>& kernels) {
  std::vector<NetworkTask> tasks;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    tasks.push_back({.kernel = k, .algorithm = {}, .name = kernels[k].kernel, .program = &kernels[k].program});
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    double best = 1;
    for (const OtherAlgorithm& other : kernels[k].others) best = std::min(best, other.ratio);
    for (const OtherAlgorithm& other : kernels[k].others)
      if (other.ratio <= kMostOverBest * best)
        tasks.push_back({.kernel = k,
                         .algorithm = other.name,
                         .name = other.kernel,
                         .program = &other.program,
                         .ratio = other.ratio,
                         .default_share = other.ratio});
  }
  return tasks;
}

std::string kernel_state_name(KernelState state) {
  switch (state) {
    case KernelState::waiting: return "waiting";
    case KernelState::pruned: return "pruned";
    case KernelState::fixed: return "fixed";
    case KernelState::failed: return "failed";
    case KernelState::tuned: return "tuned";
  }
  return "";
}

}  // namespace ferry::tune
