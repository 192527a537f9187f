#include "host/tune/network/task_searches.h"

#include "crosscompile/ir/error.h"
#include "ferry/kernel/kernel_failed.h"

#include <algorithm>
#include <utility>

namespace ferry::tune {

namespace {

// The options of all kernels by themselves.
TuneOptions options_alone(const TuneOptions& options) {
  TuneOptions alone = options;
  alone.call = {};
  alone.call.seed = options.call.seed;
  return alone;
}

}  // namespace

TaskSearches::TaskSearches(std::span<KeptSession> sessions, const TunedKernel& network, const TuneOptions& options,
                           const Observer& observer)
    : sessions_(sessions), network_(network), options_(options_alone(options)) {
  quiet_.is_interrupted = observer.is_interrupted;
}

TunedKernel TaskSearches::alone(const NetworkTask& task) const {
  lang::Program program = *task.program;
  program.name = task.name;
  KernelSource source{network_.source.compiler, network_.source.name, {}, TextKernel{.programs = {program}}};
  return {std::move(source), program.name, network_.target};
}

bool TaskSearches::with(NetworkTask& task, const std::function<void(TaskSearch&)>& work) {
  try {
    std::unique_ptr<TaskSearch>& search = searches_[task.program];
    if (search == nullptr) {
      search = std::make_unique<TaskSearch>(sessions_, alone(task), options_, quiet_);
      task.best_share = std::min(task.best_share, search->earlier_share().value_or(1));
    }
    work(*search);
    return true;
  } catch (const UsageError&) {
    task.state = KernelState::fixed;
  } catch (const CompileError& error) {
    task.state = KernelState::failed;
    task.reason = error.what();
  } catch (const KernelFailed& error) {
    task.state = KernelState::failed;
    task.reason = error.what();
  }
  return false;
}

double TaskSearches::compile_seconds() const {
  double seconds = 0, count = 0;
  for (const auto& [program, search] : searches_) {
    if (search == nullptr) continue;
    seconds += search->compile_seconds();
    ++count;
  }
  return count > 0 ? seconds / count : 0;
}

}  // namespace ferry::tune
