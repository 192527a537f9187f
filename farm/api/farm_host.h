// The tracker's part of ferry, which a client without a compiler does not have.
#pragma once

#include <string>

#include "base/status.h"
#include "farm/api/serve_options.h"

namespace ferry {
class Compiler;
}

namespace ferry::farm {

struct FarmHost {
  // Serves until SIGINT or SIGTERM.
  Status (*serve)(const ServeOptions& options, const Compiler& compiler);
  // Copies a database of SQLite while it is used.
  Status (*back_up)(const std::string& database, const std::string& destination);
};

}  // namespace ferry::farm
