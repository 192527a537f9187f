// The places of a tracker's files, and the store that its options name.
#pragma once

#include <memory>
#include <string>

#include "farm/api/serve_options.h"
#include "farm/store/store.h"

namespace ferry::farm {

// Returns where a database is, for logs: of a URI neither the passwords before its host nor its parameters.
std::string without_credentials(const std::string& database);

struct FarmFiles {
  std::string master_key;
  std::string revocations;
  std::string first_admin;  // the key of the first admin is written here
  std::string modules;      // the database of modules; that of PostgreSQL has them too
};
FarmFiles files_of(const ServeOptions& options);

struct FarmStore {
  std::unique_ptr<Store> store;
  std::string read_only_reason;  // empty: it can be written
};
Result<FarmStore> open_store(const ServeOptions& options);

}  // namespace ferry::farm
