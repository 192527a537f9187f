// Checks a kernel in C or C++ on this machine under clang's sanitizers, which see what no device does.
#pragma once

#include <optional>
#include <vector>

#include "crosscompile/foreign/sanitized_run.h"
#include "host/verify/check_against.h"

namespace ferry::verify {

struct SanitizedCheck {
  FunctionInfo info;
  foreign::SanitizedRun run;
  // Against the other kernel, if there is one and the run made no mistake: by its definition, or as it runs itself.
  std::vector<CheckResult> checks;
  std::vector<OutputComparison> compared;

  bool fine() const;
};

// Runs the chosen function of a foreign kernel once. Throws UsageError, RemoteError (invalid_argument) or CompileError
// when it cannot be called or compiled, or `against` cannot be checked against. Needs a compiler.
SanitizedCheck check_sanitized(const CheckedPair& kernels, const std::string& function, const CallOptions& call,
                               const CheckLimits& limits = {}, const Observer& observer = {});

}  // namespace ferry::verify
