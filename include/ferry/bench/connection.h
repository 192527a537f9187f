// Measures the way to a device: how long a request without work takes, and the bandwidth of transfers.
#pragma once

#include <cstdint>
#include <vector>

#include "ferry/client.h"
#include "ferry/kernel/observer.h"

namespace ferry::bench {

// Makes null calls one after the other, after a few that are not counted. Returns the seconds of each in ascending
// order. Throws UsageError for a count of 0.
std::vector<double> measure_null_calls(const Device& device, std::uint32_t count);

struct Bandwidth {
  std::uint64_t bytes = 0;  // transferred each way
  double write_seconds = 0, read_seconds = 0;

  double written_per_second() const { return static_cast<double>(bytes) / write_seconds; }
  double read_per_second() const { return static_cast<double>(bytes) / read_seconds; }
};

// Sends so many bytes to the device and back. For 0 it transfers larger and larger pieces, up to 64 MiB, until one
// takes long enough to be measured: on a slow link a small one suffices.
Bandwidth measure_bandwidth(const Device& device, std::uint64_t bytes = 0, const Observer& observer = {});

}  // namespace ferry::bench
