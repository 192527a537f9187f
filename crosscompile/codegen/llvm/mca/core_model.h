// A core on which machine code is analysed. No LLVM type appears here.
#pragma once

#include <functional>
#include <string>

namespace ferry::codegen {

struct CoreModel {
  std::string cpu;  // as LLVM names the one of whose scheduling models it is
  // Cycles to enter and leave a loop of so many iterations: LLVM's models predict all branches.
  std::function<double(double trips)> loop_cycles = [](double) { return 0.0; };
};

}  // namespace ferry::codegen
