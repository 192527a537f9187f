#include "tests/conformance/store/stores.h"

#include <algorithm>

#include "farm/store/postgres_store.h"
#include "farm/store/sqlite_store.h"
#include "tests/support/farm/memory_store.h"
#include "tests/support/farm/postgres_server.h"
#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {
namespace {

struct MemoryFixture : StoreFixture {
  std::unique_ptr<farm::Store> open() override { return std::make_unique<MemoryStore>(); }
};

struct SqliteFixture : StoreFixture {
  std::unique_ptr<farm::Store> open() override {
    return std::move(farm::open_sqlite_store(folder.file("farm.db")).value().store);
  }

  TemporaryFolder folder;
};

// All tests share the server, and each has a database of its own.
struct PostgresFixture : StoreFixture {
  PostgresFixture() {
    static PostgresServer server;
    uri = server.make_database();
  }
  std::unique_ptr<farm::Store> open() override { return std::move(farm::open_postgres_store(uri).value()); }

  std::string uri;
};

template <class Fixture>
std::unique_ptr<StoreFixture> make() {
  return std::make_unique<Fixture>();
}

}  // namespace

const std::vector<StoreKind>& all_stores() {
  static const std::vector<StoreKind> kinds = {
      {"memory", false, make<MemoryFixture>},
      {"SQLite", true, make<SqliteFixture>},
      {"PostgreSQL", true, make<PostgresFixture>},
  };
  return kinds;
}

std::vector<StoreKind> all_databases() {
  std::vector<StoreKind> kinds;
  std::copy_if(all_stores().begin(), all_stores().end(), std::back_inserter(kinds),
               [](const StoreKind& kind) { return kind.is_database; });
  return kinds;
}

}  // namespace ferry::test
