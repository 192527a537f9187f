// Checks what a machine relies on when it continues from a database, which may be damaged or written by somebody else.
#pragma once

#include "base/status.h"
#include "farm/core/lease/records.h"

namespace ferry::farm {

// Fails with device_error that names the record. A snapshot of what machines have persisted always passes.
Status check_snapshot(const Snapshot& snapshot);

}  // namespace ferry::farm
