// The key that all keys of a farm derive from, in a file that only the tracker's user can read. It belongs outside of
// the database and its backups: either alone admits nobody.
#pragma once

#include <string>

#include "base/status.h"
#include "rpc/secure/key.h"

namespace ferry::farm {

enum class IfMissing { make, refuse };

// Reads the key, or makes it. Callers refuse a missing one if the database knows credentials, because all of them would
// become worthless. `database` is the path of a SQLite database, or empty. Fails with not_found if the key is missing
// and must not be made, and with invalid_argument if others may read it, if the file contains no key, or if the path is
// that of the database or of a file that belongs to it.
Result<secure::Key> open_master_key(const std::string& path, const std::string& database, IfMissing if_missing);

}  // namespace ferry::farm
