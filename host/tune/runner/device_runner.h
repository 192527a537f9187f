// Runs code in a session on a device, which is opened again after code that crashed or hung.
#pragma once

#include "ferry/bench/sampling.h"
#include "ferry/client.h"
#include "ferry/kernel/observer.h"
#include "host/kernel/call_plan.h"
#include "host/tune/runner/kept_session.h"
#include "host/tune/runner/runner.h"
#include "host/verify/output_comparison.h"
#include "module/manifest.h"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace ferry::tune {

// What all code of a task has in common. It must outlive the runners.
struct RunnerTask {
  ModuleBytes default_module;
  FunctionInfo info;
  CallPlan plan;
  std::vector<std::string> devices = {};  // besides the CPU
  std::vector<std::uint32_t> cores = {};  // as of BenchOptions
  std::uint32_t threads = 0;              // the same
  std::uint64_t cache_bytes = 0;          // a core's; no call is to find its inputs there; 0: not known
};

// Returns in how many sets of tensors calls run in turns, so that none finds its own in a cache of this size: 1 for one
// set that is larger, and for tensors so small that they would stay there in any program.
std::size_t sets_in_turns(std::uint64_t set_bytes, std::uint64_t cache_bytes);

class DeviceRunner final : public Runner {
 public:
  // The observer is told of connections that are lost. The functions surround what is timed: on this machine, where
  // others compute, these are to stand still meanwhile. The session must outlive the runner, and other runners may use
  // it in turns with this one, with rest() in between.
  DeviceRunner(KeptSession& kept, const RunnerTask& task, Observer observer, std::function<void()> begin_window,
               std::function<void()> end_window);
  ~DeviceRunner() override;

  Trial run(const ModuleBytes& module, double best_seconds) override;
  std::optional<double> time_again(const ModuleBytes& module) override;
  void begin() override;
  void rest() override;
  std::string device() const override { return kept_.name(); }
  std::map<std::string, std::string> environment() const override { return environment_; }

 private:
  struct Session;

  // Makes what is needed of the task in the session, if it is not there.
  Session& session();
  bool prepare();
  void forget();
  using ArgumentSets = std::vector<std::vector<Argument>>;

  MeasuredTime measure(const Function& function, const ArgumentSets& sets, const BenchOptions& options);
  std::string difference(const std::vector<Argument>& arguments) const;
  Trial run_in_session(const ModuleBytes& module, double best_seconds);
  // Calls `work` until it returns, with other sessions while the device can be reached again. Failures of the code are
  // trials too.
  Trial with_session(const std::function<Trial()>& work);

  KeptSession& kept_;
  const RunnerTask& task_;
  Observer observer_;
  std::function<void()> begin_window_, end_window_;
  std::unique_ptr<Session> session_;
  std::map<std::string, std::string> environment_;
  double deadline_;  // for one call, in seconds
  std::optional<MeasuredTime> default_time_;
  std::vector<verify::AppliedLimits> limits_;  // by how much results may differ from the default's
  unsigned trials_ = 0;                        // since the default was measured
};

}  // namespace ferry::tune
