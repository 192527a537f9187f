// Code that is compared and measured in a session, by requests that are sent without waiting for answers.
#pragma once

#include "host/tune/records/tune_record.h"
#include "host/tune/runner/runner.h"
#include "host/tune/runner/trial_session.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

// Surrounds what is timed: on this machine, where others compute, these are to stand still meanwhile.
struct TimedWindow {
  std::function<void()> begin = {}, end = {};
};
// Begins the window, which must outlive what is returned: it ends the window.
std::shared_ptr<void> open_window(const TimedWindow& window);

// Returns the options for a measurement of code whose call takes about so long: more samples of short calls.
BenchOptions measurement_of(double call_seconds);
// Returns the time of a call from the samples of all sets of tensors.
MeasuredTime time_of(const std::vector<Timing>& timings);

// A trial has up to three stages: one call, whose results are compared; a first look at its time; and a measurement.
// Code that is certainly slower than the best ends sooner.
class RunningTrial {
 public:
  enum class Stage : std::uint8_t { check, look, measure };

  // The default schedule's own code begins with a look. Sends the code. All must outlive the trial, but for the code.
  RunningTrial(const TrialSession& session, const TimedWindow& window, const ModuleBytes& module,
               Stage first = Stage::check);

  // Sends the requests of the next stage. Throws Error if the session is gone, which says nothing about the code.
  void send(const ResultLimits& limits);
  // Whether the answers to what was sent last have arrived.
  bool has_arrived() const { return last_ == nullptr || last_->arrived; }
  // Waits for them. Returns the trial if it is over, else send() comes next. Throws KernelFailed for code that has left
  // its tensors, and Error as the calls.
  std::optional<Trial> take(double best_seconds);
  // Returns for how many seconds it kept the device busy.
  double busy_seconds() const { return busy_seconds_; }

 private:
  std::optional<Trial> take_answers(double best_seconds);
  MeasuredTime take_timing();

  const TrialSession* session_;
  const TimedWindow* window_;
  Function code_;
  Stage stage_;
  session::PendingCall call_;
  std::vector<session::PendingDifference> differences_;
  session::PendingTimings timings_;
  std::shared_ptr<void> open_window_;
  std::shared_ptr<const session::Answer> last_;
  double first_seconds_ = 0;  // a call's time, as the first look has found
  double busy_seconds_ = 0;
};

}  // namespace ferry::tune
