// The result of a measurement: raw samples, and everything that the device reports about its environment.
#pragma once

#include "ferry/api.h"
#include "ferry/timing.h"

namespace ferry {

struct FERRY_API Timing : Samples, TimingEnvironment {
  double median() const;
  double minimum() const;
  // Returns the median absolute deviation from the median.
  double deviation() const;
};

}  // namespace ferry
