// Runs a tracker with everything around it: database, keys, configuration and signals.
#pragma once

#include <string>

#include "base/status.h"
#include "farm/api/serve_options.h"
#include "host/compiler/api/compiler.h"

namespace ferry::farm {

// Serves until SIGINT or SIGTERM; the compiler makes the reference kernels with which boards are checked. The log goes
// to standard error, a line with a time each. Fails if the tracker cannot start. SIGHUP makes it read its configuration
// again.
Status serve(const ServeOptions& options, const Compiler& compiler);

// Copies the databases of a farm that keeps them in files, as back_up_sqlite() does: that of leases to `destination`,
// and that of modules, if there is one, to the file that belongs to it (open_connection.h).
Status back_up(const std::string& database, const std::string& destination);

}  // namespace ferry::farm
