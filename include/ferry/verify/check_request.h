// The request to check a kernel, and the report.
#pragma once

#include <string>
#include <vector>

#include "ferry/kernel/call_options.h"
#include "ferry/kernel/kernel_options.h"
#include "ferry/verify/findings.h"

namespace ferry::verify {

struct CheckRequest {
  KernelOptions kernel;
  CallOptions call;
  std::string target = {};     // what to compile for; empty: as each check says
  std::string reference = {};  // the file of a kernel that computes the same; empty: none
  CheckLimits limits = {};
  bool thorough = false;      // with adversarial inputs and other sizes too
  double call_deadline = 60;  // in seconds, for a kernel in another language that runs under sanitizers
};

struct CheckReport {
  std::string function;
  std::string target;   // what it was compiled for
  std::string mistake;  // a fault of the kernel, such as a race or an access out of bounds; empty: none
  std::string details;  // the sanitizers' report, in lines; or empty
  Findings findings;    // empty after a mistake
  // For a kernel in another language: how it was not confined, though it may be anybody's: "this kernel has no
  // Landlock".
  std::vector<std::string> not_confined = {};

  bool is_fine() const { return mistake.empty() && findings.is_fine(); }
};

}  // namespace ferry::verify
