// Which schedules make the kernels of a network faster in the network itself, where other kernels run before them and
// caches hold other things than when they run alone.
#pragma once

#include "host/tune/network/chosen_schedules.h"
#include "host/tune/network/network_turns.h"
#include "host/tune/tune.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace ferry::tune {

// The best schedules of a kernel by itself, the fastest first. So many of them have different algorithms and are all
// tried; the others are if none of these is faster in the network.
struct KernelCandidates {
  std::size_t kernel = 0;  // index into NetworkProfile::kernels
  std::vector<TuneRecord> records;
  std::size_t firsts = 1;
};

// The schedule that was the best in the network, with its times there: those of all calls of the kernel.
struct ConfirmedKernel {
  std::size_t kernel = 0;
  TuneRecord record;
  bool is_faster = false;
};

// Times the steps of the network, which has these layouts, with all candidates and with default schedules, in turns in
// several sessions. The least times count. A kernel that did not become faster gets another chance with its second
// candidate, and one whose candidates have different algorithms a chance for each. After the least number of sessions,
// what would probably not end before `until` is left out.
std::vector<ConfirmedKernel> confirm_in_network(const InNetwork& in_network,
                                                const std::vector<KernelCandidates>& candidates,
                                                const ChosenLayouts& layouts, const Observer& observer,
                                                std::optional<std::chrono::steady_clock::time_point> until = {});

}  // namespace ferry::tune
