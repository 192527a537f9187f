// The kernels to compare, and the goal for each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/kernels/operation.h"

namespace ferry::bench {

struct Case {
  std::string name;
  std::string program;  // file in programs/; empty for convolutions by Winograd's algorithm
  std::map<std::string, std::int64_t>
      sizes;             // substituted into the program, since the libraries know their sizes as well
  std::string schedule;  // file in schedules/; empty: ferry's default schedule
  Operation operation;
  std::vector<std::string> peers;
  double goal = 1;  // required speed relative to the best peer
  double flops = 0;
  double bytes = 0;  // memory traffic, where that is the limit
  unsigned threads = 1;
  bool blocked = false;
};

std::vector<Case> all_cases();

}  // namespace ferry::bench
