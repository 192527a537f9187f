// Runs a tracker with everything around it: database, keys, configuration and signals.
#pragma once

#include "base/status.h"
#include "host/compiler/api/compiler.h"
#include "host/farm/api/serve_options.h"

namespace ferry::farm {

// Serves until SIGINT or SIGTERM; the compiler makes the reference kernels with which boards are checked. The log goes
// to standard error, a line with a time each. Fails if the tracker cannot start. SIGHUP makes it read its configuration
// again.
Status serve(const ServeOptions& options, const Compiler& compiler);

}  // namespace ferry::farm
