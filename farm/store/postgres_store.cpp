#include "farm/store/postgres_store.h"

#include "farm/store/postgres_connection.h"
#include "farm/store/schema.h"
#include "farm/store/sql_store.h"

namespace ferry::farm {

Result<std::unique_ptr<Store>> open_postgres_store(const std::string& uri, std::chrono::milliseconds right_lasts) {
  FERRY_ASSIGN(auto connection, PostgresConnection::open(uri, PostgresConnection::Writers::of_leases, right_lasts));
  FERRY_TRY(migrate(*connection, migrations()));
  return std::unique_ptr<Store>(std::make_unique<SqlStore>(std::move(connection)));
}

}  // namespace ferry::farm
