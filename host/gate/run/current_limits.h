// The bounds that a suite puts on a case, whatever its baseline does.
#pragma once

#include <optional>
#include <string>

#include "host/gate/api/report.h"
#include "host/gate/run/side_module.h"

namespace ferry::gate {

// Returns the sizes of a module's images, as they are stored.
ModuleBytes bytes_of(const CompiledModule& module);

// Returns a sentence for the bounds that the current side exceeds; empty if there are none. A side that was not
// measured exceeds no bound of its time.
std::string beyond_limits(const Limits& limits, const SideFacts& current, std::optional<double> share_of_peak);

}  // namespace ferry::gate
