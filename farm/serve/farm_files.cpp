#include "farm/serve/farm_files.h"

#include <filesystem>

#include "farm/store/open_connection.h"
#include "farm/store/postgres_store.h"
#include "farm/store/sqlite_store.h"

namespace ferry::farm {

std::string without_credentials(const std::string& database) {
  if (!is_postgres(database)) return database;
  const std::string place = database.substr(0, database.find('?'));
  const std::size_t at = place.rfind('@');
  return "postgresql://" + place.substr(at == std::string::npos ? place.find("://") + 3 : at + 1);
}

FarmFiles files_of(const ServeOptions& options) {
  // farm.db has farm.key, farm.revoked, farm.admin.key and farm.modules.db beside it.
  const std::string key = !options.key_file.empty() ? options.key_file
                          : is_postgres(options.database)
                              ? std::string("farm.key")
                              : std::filesystem::path(options.database).replace_extension("key").string();
  const std::filesystem::path path(key);
  return {key, std::filesystem::path(path).replace_extension("revoked").string(),
          std::filesystem::path(path).replace_extension("admin.key").string(), module_database_of(options.database)};
}

Result<FarmStore> open_store(const ServeOptions& options) {
  if (is_postgres(options.database)) {
    FERRY_ASSIGN(auto store, open_postgres_store(options.database));
    return FarmStore{std::move(store), {}};
  }
  FERRY_ASSIGN(OpenedStore opened, open_sqlite_store(options.database));
  return FarmStore{std::move(opened.store), std::move(opened.read_only_reason)};
}

}  // namespace ferry::farm
