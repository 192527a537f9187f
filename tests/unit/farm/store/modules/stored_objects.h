// Stores of modules in both databases, and objects to put into them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "farm/store/modules/module_store.h"
#include "farm/store/modules/object_tables.h"
#include "farm/store/open_connection.h"
#include "farm/store/postgres_connection.h"
#include "farm/store/sqlite_connection.h"
#include "tests/support/farm/postgres_server.h"
#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {

using namespace farm::wire;
using farm::kPieceBytes;
using farm::ModuleStore;
using Bytes = std::vector<std::uint8_t>;

inline std::unique_ptr<farm::SqlConnection> connect_to(const std::string& database) {
  auto opened = farm::open_module_connection(database);
  REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
  return std::move(opened.value());
}

inline std::unique_ptr<ModuleStore> open_at(const std::string& database,
                                            std::uint64_t quota = farm::wire::kDefaultModuleQuota) {
  auto opened = ModuleStore::open(connect_to(database), quota);
  REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
  return std::move(opened.value());
}

// Calls check(the path or URI of an empty database) for each kind of database.
inline void for_each_database(const std::function<void(const std::string&)>& check) {
  SUBCASE("SQLite") {
    const TemporaryFolder folder;
    check(folder.file("farm.modules.db"));
  }
  SUBCASE("PostgreSQL") {
    static PostgresServer server;
    check(server.make_database());
  }
}

// Every byte follows from its place and the seed.
inline Bytes contents(std::size_t count, std::uint32_t seed) {
  Bytes bytes(count);
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  return bytes;
}

inline Status put(ModuleStore& store, ModuleStore::Sender sender, const Hash& object, const Bytes& bytes) {
  std::size_t offset = 0;
  do {
    const std::size_t count = std::min(kMaxPieceSent, bytes.size() - offset);
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto taken = store.answer(
        sender, PutObject{object, bytes.size(), offset, {begin, begin + static_cast<std::ptrdiff_t>(count)}});
    FERRY_TRY(taken.status());
    offset += count;
    CHECK(taken.value().is_stored == (offset == bytes.size()));
  } while (offset < bytes.size());
  return {};
}
inline Hash put(ModuleStore& store, const Bytes& bytes) {
  const Hash object = blake2b(bytes);
  const Status status = put(store, 1, object, bytes);
  REQUIRE_MESSAGE(status.is_ok(), status.message());
  return object;
}

inline bool has(ModuleStore& store, const Hash& object) {
  const auto found = store.answer(1, FindObjects{{object}});
  REQUIRE_MESSAGE(found.is_ok(), found.status().message());
  return found.value().is_stored.at(0) == 1;
}

inline Bytes get(ModuleStore& store, const Hash& object) {
  Bytes bytes;
  while (true) {
    const auto piece = store.answer(1, GetObject{object, bytes.size()});
    REQUIRE_MESSAGE(piece.is_ok(), piece.status().message());
    bytes.insert(bytes.end(), piece.value().piece.begin(), piece.value().piece.end());
    if (bytes.size() == piece.value().bytes) return bytes;
    REQUIRE(!piece.value().piece.empty());
  }
}

inline std::int64_t count_of(farm::SqlConnection& connection, const std::string& table) {
  return std::get<std::int64_t>(farm::execute(connection, "SELECT COUNT(*) FROM " + table).value().rows.at(0).at(0));
}

inline SetBaseline baseline_of(const std::string& name, const Hash& module, std::vector<Hash> blobs = {},
                               std::int64_t stored = 1'700'000'000) {
  return {"suite", "main", {name, "x86_64", module, blake2b({}), std::move(blobs), "1f3a", stored, {}}};
}

inline ModuleStore::SetBaselineOf by_anna(SetBaseline request) { return {std::move(request), "anna"}; }
inline ModuleStore::AddVerdictOf by_anna(AddVerdict verdict) { return {std::move(verdict), "anna"}; }

// As if all objects had been used so long ago.
inline void make_older(const std::string& database, std::chrono::minutes by) {
  const auto connection = connect_to(database);
  REQUIRE(farm::execute(*connection, "UPDATE objects SET used = used - $1", farm::Duration(by)).is_ok());
}

}  // namespace ferry::test
