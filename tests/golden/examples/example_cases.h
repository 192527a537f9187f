// Lists what is compiled for each example: its default schedule, for any sizes and for those that its schedules are
// tried at, and each schedule that stands beside it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ferry/lang/program.h"
#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"

namespace ferry::test {

struct ExampleCase {
  std::string example;  // "10_matmul", "kernels/mm"
  // The arguments of "ferry compile", up to the target: "examples/10_matmul.tc --fn matmul --size K=256,M=256,N=256".
  // The name of the program for an example in C++, which the command line cannot compile.
  std::string command;
  bool is_cpp = false;
  std::vector<lang::Program> programs;
  std::function<std::vector<schedule::Schedule>(const Target&)> schedules;
  enum class Kind { any_size, sized, scheduled } kind = Kind::any_size;
  bool for_cpus = true, for_gpus = true;

  bool has_default_schedule() const { return kind != Kind::scheduled; }
};

// In order of the examples' names; those in C++ come last. Sizes come from the lines "# run" and "# try" of the
// schedules, and from tests/golden/examples/sizes.txt.
std::vector<ExampleCase> example_cases();

}  // namespace ferry::test
