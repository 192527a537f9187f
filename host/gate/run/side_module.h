// The two modules of a case, ready to be called with the same arguments.
#pragma once

#include <string>

#include "ferry/client.h"
#include "host/gate/api/suite.h"
#include "host/kernel/kernel.h"
#include "host/measure/measured_side.h"
#include "host/verify/same_parameters.h"

namespace ferry::gate {

using bench::MeasuredSide;
using bench::RunSettings;

// Plans the call that the suite describes. Throws Error (invalid_argument) if the function cannot be called so.
MeasuredSide plan_side(CompiledModule module, const SuiteCase& suite_case);

// Plans the same call of another module, with the same inputs. Throws Error (invalid_argument) if its function takes
// other arguments.
MeasuredSide plan_same_side(CompiledModule module, const SuiteCase& suite_case, const MeasuredSide& other,
                            verify::ParameterPairs& pairs);

// Bytes of machine code and of everything else in a module's images.
struct ModuleBytes {
  std::uint64_t code = 0, data = 0;
};

}  // namespace ferry::gate
