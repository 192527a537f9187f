// Says where in its suite the mistake of a case is.
#pragma once

#include <string>

#include "ferry/kernel/option_error.h"
#include "host/gate/api/suite.h"

namespace ferry::gate {

// Returns the message with the place of the case in the suite's file and the key to change:
// "suite.toml:3: cases.mm.sizes: Q=1: mm has no size 'Q'; ...".
std::string suite_mistake(const std::string& suite_file, const SuiteCase& suite_case, const OptionError& error);

}  // namespace ferry::gate
