// Runs a tracker with everything around it: database, keys, configuration and signals.
#pragma once

#include "base/status.h"
#include "host/farm/api/serve_options.h"

namespace ferry::farm {

// Serves until SIGINT or SIGTERM. The log goes to standard error, a line with a time each. Fails if the tracker cannot
// start.
Status serve(const ServeOptions& options);

}  // namespace ferry::farm
