// Runs the code of points on a device, and says how long a call takes.
#pragma once

#include "ferry/bench/method.h"
#include "host/tune/builder/builder.h"
#include "host/tune/records/tune_record.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace ferry::tune {

// What came of running code.
struct Trial {
  Outcome outcome = Outcome::measured;
  std::string reason;                     // why there is no time
  std::optional<MeasuredTime> time = {};  // a call's
  // The default schedule on the same device a short while before.
  std::optional<MeasuredTime> default_time = {};
  bench::Method method = {};  // how the times were taken
};

struct EndedTrial {
  std::uint64_t number = 0;
  Trial trial;
};

class Runner {
 public:
  virtual ~Runner() = default;
  // Whether the device would be idle before long without another trial.
  virtual bool has_room() const = 0;
  // Takes code that is compared with what the default schedule computes, and measured. Trials have different numbers.
  virtual void submit(std::uint64_t number, std::shared_ptr<const ModuleBytes> module) = 0;
  // Works on what was submitted for about so long at most, and returns a trial that has ended. They may end in another
  // order than that of their numbers. Code of which it is certain early that a call takes longer than `best_seconds` is
  // not measured further (too_slow); 0: always to the end. Throws Error if the device is gone, and does not come back;
  // then all trials that have not ended are forgotten.
  virtual std::optional<EndedTrial> wait(double best_seconds, std::chrono::milliseconds most) = 0;
  // Measures code that was found to be right once more, now as `ferry compare` does, in a process of its own. No trial
  // may be left. Returns the seconds of its fastest calls; nothing if it fails. Throws as wait().
  virtual std::optional<double> time_again(const ModuleBytes& module) = 0;
  // Does what must be done before the first trial, while points are built. Throws as wait().
  virtual void begin() {}
  // Lets go of the device for a while; the next call of another method takes it again. No trial may be left.
  // Measured times stay known.
  virtual void rest() {}
  // Where it ran, for records.
  virtual std::string device() const = 0;
  virtual std::map<std::string, std::string> environment() const = 0;
};

}  // namespace ferry::tune
