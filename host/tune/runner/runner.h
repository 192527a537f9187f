// Runs the code of points on a device, and says how long a call takes.
#pragma once

#include "host/tune/builder/builder.h"
#include "host/tune/records/tune_record.h"

#include <map>
#include <optional>
#include <span>
#include <string>

namespace ferry::tune {

// What came of running code.
struct Trial {
  Outcome outcome = Outcome::measured;
  std::string reason;                     // why there is no time
  std::optional<MeasuredTime> time = {};  // a call's
  // The default schedule on the same device a short while before.
  std::optional<MeasuredTime> default_time = {};
};

class Runner {
 public:
  virtual ~Runner() = default;
  // Compares what the code computes with what the default schedule does, and measures it. Where a time above
  // `best_seconds` is certain early, it is not measured further (too_slow); 0: always to the end. Throws Error if the
  // device is gone, and does not come back.
  virtual Trial run(const ModuleBytes& module, double best_seconds) = 0;
  // Measures code that run() has found to be right once more, now as `ferry compare` does, in a process of its own.
  // Returns the seconds of its fastest calls; nothing if it fails. Throws as run().
  virtual std::optional<double> time_again(const ModuleBytes& module) = 0;
  // Does what must be done before the first run(), while points are built. Throws as run().
  virtual void begin() {}
  // Lets go of the device for a while; the next call of another method takes it again. What was measured stays known.
  virtual void rest() {}
  // Where it ran, for records.
  virtual std::string device() const = 0;
  virtual std::map<std::string, std::string> environment() const = 0;
};

}  // namespace ferry::tune
