// The options of a measurement, and the results of measuring on several devices.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "ferry/bench/measurement.h"
#include "ferry/bench/sampling.h"
#include "ferry/kernel/open_session.h"
#include "ferry/verify/findings.h"

namespace ferry::bench {

struct MeasureOptions {
  SamplingOptions sampling{{.number = 0,
                            .repeat = 40,
                            .min_repeat_ms = 10,
                            .warmup_ms = 10,
                            .max_repeat = 100,
                            .tolerance = 0.01,
                            .timeout_ms = 10'000}};
  // Measure the device's peaks too, before and after the samples. There are none for GPUs, and for kernels whose
  // results are integers.
  bool peak = true;
  // Compare what the kernel computes with its own definition, evaluated on this machine, before it is measured. Only
  // for a kernel in ferry's own notation that a user named; others throw OptionError then.
  bool check_definition = false;
  bool thorough = false;            // check with adversarial inputs and other sizes too
  verify::CheckLimits limits = {};  // for this and for the comparison with a reference
};

struct NamedDevice {
  std::string name;  // for messages
  OpenSession open;
};
// The Error for which a device has no measurement, or not one for every size. A WrongResult is about one size alone.
struct FailedDevice {
  std::string name;
  std::exception_ptr error;
};
struct Measurements {
  std::vector<Measurement> done;  // device by device, point by point
  std::vector<FailedDevice> failures;
  bool is_interrupted = false;  // the observer ended the work before everything was measured
};

}  // namespace ferry::bench
