// The tables of the modules that a farm keeps (farm/protocol/modules.h).
#pragma once

#include "base/status.h"
#include "farm/store/sql_connection.h"

namespace ferry::farm {

// Creates the tables if there are none. Fails with version_mismatch if a later ferry has made them.
Status migrate_modules(SqlConnection& connection);

}  // namespace ferry::farm
