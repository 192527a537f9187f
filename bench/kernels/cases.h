// The kernels that are compared, and what each should reach.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/kernels/operation.h"

namespace ferry::bench {

struct Case {
  std::string name;
  std::string program;                        // of programs/
  std::map<std::string, std::int64_t> sizes;  // written into the program: libraries know theirs as well
  std::string schedule;                       // of schedules/; empty: the one ferry makes up
  Operation operation;
  std::vector<std::string> peers;
  double goal = 1;  // times the speed of the best peer
  double flops = 0;
  double bytes = 0;  // that must be moved, where that is the limit
  unsigned threads = 1;
  bool blocked = false;
};

std::vector<Case> all_cases();

}  // namespace ferry::bench
