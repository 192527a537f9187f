#include <unistd.h>

#include "host/farm/serve/serve.h"
#include "host/farm/store/open_connection.h"
#include "host/farm/store/sqlite_store.h"

namespace ferry::farm {

Status back_up(const std::string& database, const std::string& destination) {
  FERRY_TRY(back_up_sqlite(database, destination));
  const std::string modules = module_database_of(database);
  if (access(modules.c_str(), F_OK) != 0) return {};
  return back_up_sqlite(modules, module_database_of(destination));
}

}  // namespace ferry::farm
