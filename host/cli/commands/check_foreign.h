// `ferry check` of a kernel in C or C++: runs it on this machine under clang's sanitizers.
#pragma once

#include <string>

#include "host/cli/options/check_options.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/output/junit.h"

namespace ferry::cli {

// Prints the findings, adds them to the report and returns the exit code. `against` is the file of --check-against;
// empty: none.
int check_foreign(const KernelCommand& kernel, const CallOptions& call, const CheckOptions& options,
                  const std::string& against, bool json, JUnitReport& report);

}  // namespace ferry::cli
