// Runs code in a session on a device, which is opened again after code that crashed or hung.
//
// Several trials are on their way at once, so that a device does not wait for a link while there is something to try:
// the server works on one while answers and requests of others travel. Code that ends the session is the one whose
// requests were not answered first; those behind it are repeated in the next session.
#pragma once

#include "ferry/client.h"
#include "ferry/kernel/observer.h"
#include "host/tune/runner/kept_session.h"
#include "host/tune/runner/runner.h"
#include "host/tune/runner/running_trial.h"
#include "host/tune/runner/trial_session.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace ferry::tune {

// Returns how many trials must be on their way to keep a device busy that works for `busy_seconds` on each of them,
// over a link with this time of a round trip.
std::size_t trials_on_their_way(double round_trip_seconds, double busy_seconds);

class DeviceRunner final : public Runner {
 public:
  // The observer is told of connections that are lost. With a window there is only one trial at a time. The session
  // must outlive the runner, and other runners may use it in turns with this one, with rest() in between.
  DeviceRunner(KeptSession& kept, const RunnerTask& task, Observer observer, TimedWindow window = {});
  ~DeviceRunner() override;

  bool has_room() const override { return waiting_.size() + running_.size() < most_running(); }
  void submit(std::uint64_t number, std::shared_ptr<const ModuleBytes> module) override;
  std::optional<EndedTrial> wait(double best_seconds, std::chrono::milliseconds most) override;
  std::optional<double> time_again(const ModuleBytes& module) override;
  void begin() override;
  void rest() override;
  std::string device() const override { return kept_.name(); }
  std::map<std::string, std::string> environment() const override { return environment_; }

 private:
  struct Submitted {
    std::uint64_t number;
    std::shared_ptr<const ModuleBytes> module;
  };
  struct Running {
    std::optional<Submitted> submitted;  // nothing: the default schedule, which is measured again
    RunningTrial trial;
  };

  // Makes what is needed of the task in the session, if it is not there.
  TrialSession& session();
  bool prepare();
  void measure_default();
  void forget();
  void end_session();
  void drop_waiting();
  // Throws the exception that is being handled, unless the device may be there again after this pause.
  void pause_after(const Error& error, int attempt);

  std::size_t most_running() const;
  void start_waiting();
  void start(std::optional<Submitted> submitted);
  void receive_until(const RunningTrial& trial, std::chrono::milliseconds most);
  std::optional<EndedTrial> end(const Running& ended, Trial trial);
  // The session has ended while these answers were awaited.
  std::optional<EndedTrial> fail(Running running, const Error& error);
  // To be called in the handler of an exception that kept a request from being sent. Earlier requests may have been
  // answered.
  void lose_link();
  void repeat(Running running);
  void open_again();

  KeptSession& kept_;
  const RunnerTask& task_;
  Observer observer_;
  TimedWindow window_;
  std::unique_ptr<TrialSession> session_;
  std::map<std::string, std::string> environment_;
  double deadline_;  // for one call, in seconds
  std::optional<MeasuredTime> default_time_;
  ResultLimits limits_;
  unsigned trials_ = 0;  // since the default was measured

  std::deque<Submitted> waiting_;
  std::deque<Running> running_;  // in the order in which their last requests were sent
  std::exception_ptr lost_;      // why nothing can be sent; null: it can
  int attempts_ = 0;             // sessions that were lost since a trial has ended
  std::size_t suspects_ = 0;     // trials that are run one by one, because nobody knows which has ended the session
  double round_trip_ = 0;        // seconds; the shortest that was seen
  double busy_ = 0;              // seconds for which a trial keeps the device busy
};

}  // namespace ferry::tune
