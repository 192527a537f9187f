// Checks a kernel in C or C++ on this machine under clang's sanitizers, or one in CUDA C on the interpreter of PTX.
// They see what no device does.
#pragma once

#include <string>

#include "host/verify/check.h"
#include "host/verify/check_against.h"
#include "host/verify/probes.h"

namespace ferry::verify {

struct SanitizedOptions {
  ProbeOptions probing = {};
  double call_deadline = 60;  // in seconds
  Target target = {};         // for a kernel in CUDA C; otherwise this machine
};

// Runs the chosen function of a foreign kernel once and compares it with the other kernel, if there is one, by its
// definition, or as it runs itself. A call that misses its deadline is a mistake of the kernel. Throws Error
// (invalid_argument) when it cannot be called or compiled, or `against` cannot be checked against. Needs a compiler.
CheckReport check_sanitized(const CheckedPair& kernels, const std::string& function, const CallOptions& call,
                            const SanitizedOptions& options = {}, const Observer& observer = {});

}  // namespace ferry::verify
