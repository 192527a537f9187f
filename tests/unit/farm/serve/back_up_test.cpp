// Backups of a farm that keeps its databases in files.
#include <doctest/doctest.h>

#include "farm/serve/serve.h"
#include "farm/store/sqlite_connection.h"
#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {
namespace {

std::unique_ptr<farm::SqliteConnection> open(const std::string& path) {
  auto opened = farm::SqliteConnection::open(path, farm::Access::write);
  REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
  return std::move(opened.value());
}

std::int64_t count_of(const std::string& path) {
  const auto counted = farm::execute(*open(path), "SELECT COUNT(*) FROM things");
  REQUIRE_MESSAGE(counted.is_ok(), counted.status().message());
  return std::get<std::int64_t>(counted.value().rows.at(0).at(0));
}

TEST_CASE("a backup never replaces the databases that are in use, whatever its name is") {
  const TemporaryFolder folder;
  const std::string leases = folder.file("farm.db"), modules = folder.file("farm.modules.db");
  const auto lease_connection = open(leases), module_connection = open(modules);
  for (auto* connection : {lease_connection.get(), module_connection.get()}) {
    REQUIRE(farm::execute(*connection, "CREATE TABLE things (number BIGINT)").is_ok());
    REQUIRE(farm::execute(*connection, "INSERT INTO things VALUES (1)").is_ok());
  }
  // The modules of a farm in farm.bak would be in farm.modules.db.
  for (const std::string& name : {folder.file("farm.bak"), leases, folder.path() + "/./farm.bak"}) {
    CAPTURE(name);
    const Status refused = farm::back_up(leases, name);
    CHECK(refused.code() == ErrorCode::invalid_argument);
    CHECK(refused.message().find("expected another name for the backup than " + name) == 0);
  }
  CHECK(farm::back_up(leases, folder.file("copy.bak")).is_ok());
  // Whoever uses the databases goes on with the same files.
  REQUIRE(farm::execute(*module_connection, "INSERT INTO things VALUES (2)").is_ok());
  CHECK(count_of(modules) == 2);
  CHECK(count_of(leases) == 1);
  CHECK(count_of(folder.file("copy.bak")) == 1);
  CHECK(count_of(folder.file("copy.modules.db")) == 1);
}

}  // namespace
}  // namespace ferry::test
