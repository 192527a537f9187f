// The searches of a network's tasks. Each is begun when it is needed first, and all share the sessions with the
// devices.
#pragma once

#include "host/tune/network/network_task.h"
#include "host/tune/task_search.h"
#include "host/tune/tune.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>

namespace ferry::tune {

class TaskSearches {
 public:
  // Everything must outlive it.
  TaskSearches(std::span<KeptSession> sessions, const TunedKernel& network, const TuneOptions& options,
               const Observer& observer);

  // Does something with the search of a task. Returns false if the task cannot be tuned; its state says why.
  bool with(NetworkTask& task, const std::function<void(TaskSearch&)>& work);
  // Returns the mean time that a default schedule takes to be compiled; 0: not known.
  double compile_seconds() const;
  void clear() { searches_.clear(); }

 private:
  TunedKernel alone(const NetworkTask& task) const;

  std::span<KeptSession> sessions_;
  const TunedKernel& network_;
  const TuneOptions options_;
  Observer quiet_;
  std::map<const lang::Program*, std::unique_ptr<TaskSearch>> searches_;
};

}  // namespace ferry::tune
