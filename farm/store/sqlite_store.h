// The store in a file of SQLite, which one tracker uses at a time. Its clock is the system's.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "farm/store/store.h"

namespace ferry::farm {

struct OpenedStore {
  std::unique_ptr<Store> store;
  // Why the store refuses to write: the database is damaged. Empty: it does not refuse.
  std::string read_only_reason;
};

// Opens the database, or creates it, readable by its owner alone. Fails with version_mismatch if a later ferry has
// written it, with busy if another process holds it, and with a device_error if nothing of it can be read.
Result<OpenedStore> open_sqlite_store(const std::string& path);

// Copies the database into `destination`, replacing it when the copy is complete and on disk. Other connections, also
// of other processes, may write meanwhile; the copy has one state of the database, not earlier than the call.
Status back_up_sqlite(const std::string& path, const std::string& destination);

}  // namespace ferry::farm
