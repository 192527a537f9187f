// How a time was taken. Times that were taken in different ways are not comparable.
#pragma once

#include <cstdint>
#include <string>

#include "ferry/timing.h"

namespace ferry::bench {

// The default is the method of times that were stored before they said it.
struct Method {
  // "repeated": all samples have the same inputs; "restored": and what a call reads and writes gets its contents back
  // before each sample; "fresh": and before each call, elements of the inputs are replaced.
  std::string inputs = "repeated";
  std::string cache = "warm";  // before a sample: "warm", "flushed" (the tensors) or "wiped" (all of it)
  // "none": the kernel ran in the process that measured it; "notify", "trace" and "pipe": in one of its own, timed from
  // outside.
  std::string isolation = "none";
  std::uint64_t seed = 0;  // draws the random inputs; times of different seeds are comparable

  bool is_comparable(const Method& other) const {
    return inputs == other.inputs && cache == other.cache && isolation == other.isolation;
  }
};

inline std::string to_text(TimingIsolation isolation) {
  switch (isolation) {
    case TimingIsolation::notify: return "notify";
    case TimingIsolation::trace: return "trace";
    case TimingIsolation::pipe: return "pipe";
    case TimingIsolation::none: break;
  }
  return "none";
}

// "inputs restored, cache warm, isolation none"
inline std::string to_text(const Method& method) {
  return "inputs " + method.inputs + ", cache " + method.cache + ", isolation " + method.isolation;
}

}  // namespace ferry::bench
