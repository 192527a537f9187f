// The programs of the examples in C++, with the schedules that they show.
#pragma once

#include <string>
#include <vector>

#include "ferry/lang/program.h"
#include "ferry/schedule/schedule.h"

namespace ferry::test {

struct CppExample {
  std::string name;  // "24_any_rank"
  lang::Program program;
  schedule::Schedule schedule;
};

// Runs main() of each example, with a show() that only takes note. In order of their names.
std::vector<CppExample> cpp_examples();

}  // namespace ferry::test
