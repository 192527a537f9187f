// Which schedules of a network's tasks, and which algorithms, are to run in the network.
#pragma once

#include "host/tune/network/confirm_in_network.h"
#include "host/tune/network/network_budget.h"
#include "host/tune/network/network_task.h"
#include "host/tune/network/task_searches.h"

#include <vector>

namespace ferry::tune {

struct RankedNetwork {
  std::vector<NetworkTask>& tasks;  // their shares become what is measured again
  TaskSearches& searches;
  const NetworkProfile& profile;
  const NetworkBudget& budget;
  const TuneOptions& options;
  const TunedKernel& network;
};

// Measures the best schedules of each task again, those first that promise the most, and other algorithms in turns with
// the default's. Returns the candidates of kernels that have any, with algorithms that earlier runs found.
std::vector<KernelCandidates> rank_tasks(const RankedNetwork& network, const Observer& observer);

}  // namespace ferry::tune
