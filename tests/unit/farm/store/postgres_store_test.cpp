// What can go wrong with a server of PostgreSQL, and how trackers share one.
#include "farm/store/postgres_store.h"

#include <doctest/doctest.h>

#include <thread>

#include "farm/store/libpq_api.h"
#include "farm/store/postgres_connection.h"
#include "tests/support/farm/describe.h"
#include "tests/support/farm/postgres_server.h"
#include "tests/support/farm/random_records.h"
#include "tests/support/farm/record_tables.h"

namespace ferry::test {
namespace {

using Commits = std::vector<farm::Persist>;

PostgresServer& shared_server() {
  static PostgresServer server;
  return server;
}

std::unique_ptr<farm::Store> open_store(const std::string& uri,
                                        std::chrono::milliseconds right_lasts = farm::Store::kRightLasts) {
  auto opened = farm::open_postgres_store(uri, right_lasts);
  INFO(opened.status().message());
  REQUIRE(opened.is_ok());
  return std::move(opened.value());
}

bool is_persisted(const Result<farm::CommitOutcome>& outcome) {
  return outcome.is_ok() && std::holds_alternative<farm::Persisted>(outcome.value());
}

TEST_CASE("a machine without libpq is told what to install") {
  const auto api = farm::load_libpq("libpq.so.999");
  CHECK(api.status().code() == ErrorCode::unsupported);
  for (const char* part : {"libpq.so.999", "libpq5"}) CHECK(api.status().message().find(part) != std::string::npos);
}

TEST_CASE("a server that does not answer is unavailable") {
  const auto opened = farm::open_postgres_store("postgresql://ferry@%2Fnowhere/farm");
  CHECK(opened.status().code() == ErrorCode::unavailable);
  CHECK(opened.status().message().find("cannot reach PostgreSQL: ") == 0);
  CHECK(opened.status().message().find("/nowhere") != std::string::npos);
}

TEST_CASE("one tracker schedules at a time, and the next one gets a later term") {
  const std::string uri = shared_server().make_database();
  auto active = open_store(uri);
  const auto standby = open_store(uri);
  const farm::TrackerTerm first = active->take_term().value();
  const auto refused = standby->take_term();
  CHECK(refused.status().code() == ErrorCode::busy);
  CHECK(standby->load().is_ok());
  CHECK(is_persisted(active->apply(Commits{{first, 1, {}}})));
  active.reset();

  Result<farm::TrackerTerm> second = standby->take_term();
  // The server ends a session a moment after its client has left.
  while (second.status().code() == ErrorCode::busy) second = standby->take_term();
  REQUIRE(second.is_ok());
  CHECK(first < second.value());
  const auto late = open_store(uri)->apply(Commits{{first, 2, {farm::HolderRecord{"ann", 1, 0, {}}}}});
  REQUIRE(late.is_ok());
  CHECK(std::holds_alternative<farm::TermLost>(late.value()));
  CHECK(standby->load().value().holders.empty());
}

TEST_CASE("a tracker that has stopped loses the right to schedule, and one that asks for the term keeps it") {
  const std::string uri = shared_server().make_database();
  constexpr std::chrono::milliseconds kRightLasts(1000), kPause(100);
  const auto active = open_store(uri, kRightLasts), standby = open_store(uri, kRightLasts);
  const farm::TrackerTerm first = active->take_term().value();
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < kRightLasts + 2 * kPause) {
    CHECK(active->current_term().value() == first);
    CHECK(standby->take_term().status().code() == ErrorCode::busy);
    std::this_thread::sleep_for(kPause);
  }
  // From here on it says nothing.
  auto second = standby->take_term();
  for (int i = 0; i < 200 && second.status().code() == ErrorCode::busy; ++i) {
    std::this_thread::sleep_for(kPause);
    second = standby->take_term();
  }
  REQUIRE_MESSAGE(second.is_ok(), second.status().message());
  CHECK(active->current_term().status().code() == ErrorCode::unavailable);
  CHECK(active->current_term().value() == second.value());
  CHECK(std::holds_alternative<farm::TermLost>(active->apply(Commits{{first, 1, {}}}).value()));
}

TEST_CASE("commits that fail while the server is gone succeed once it is back, and the tracker stays active") {
  PostgresServer server;
  const std::string uri = server.make_database();
  const auto store = open_store(uri);
  const farm::TrackerTerm term = store->take_term().value();
  const Commits commits = RandomRecords(9).commits(term, 60);
  RecordTables tables;
  for (std::size_t done = 0; done < commits.size(); done += 20) {
    const auto group = std::span(commits).subspan(done, 20);
    server.stop();
    for (int i = 0; i < 2; ++i) CHECK(store->apply(group).status().code() == ErrorCode::unavailable);
    CHECK(store->now().status().code() == ErrorCode::unavailable);
    server.start();
    CHECK(is_persisted(store->apply(group)));
    for (const farm::Persist& commit : group) tables.apply(commit.records);
    CHECK(describe(store->load().value()) == describe(tables.snapshot()));
    CHECK(open_store(uri)->take_term().status().code() == ErrorCode::busy);
  }
}

TEST_CASE("a connection that is lost in a transaction writes nothing of it") {
  const std::string uri = shared_server().make_database();
  const auto killer = std::move(farm::PostgresConnection::open(uri).value());
  const auto connection = std::move(farm::PostgresConnection::open(uri).value());
  REQUIRE(connection->execute("CREATE TABLE a (x BIGINT)", {}).is_ok());
  REQUIRE(connection->begin(farm::Access::write).is_ok());
  REQUIRE(connection->execute("INSERT INTO a VALUES (1)", {}).is_ok());
  REQUIRE(killer
              ->execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
                        {})
              .is_ok());
  CHECK(connection->execute("INSERT INTO a VALUES (2)", {}).status().code() == ErrorCode::unavailable);
  CHECK(connection->execute("INSERT INTO a VALUES (3)", {}).status().code() == ErrorCode::unavailable);
  CHECK(!connection->commit().is_ok());
  REQUIRE(connection->begin(farm::Access::read).is_ok());
  CHECK(connection->execute("SELECT x FROM a", {}).value().rows.empty());
}

TEST_CASE("a tracker whose transaction another one holds up is told that the database is busy") {
  const std::string uri = shared_server().make_database();
  const auto store = open_store(uri);
  const farm::TrackerTerm term = store->take_term().value();
  const auto other = std::move(farm::PostgresConnection::open(uri).value());
  REQUIRE(other->begin(farm::Access::write).is_ok());
  CHECK(store->apply(Commits{{term, 1, {}}}).status().code() == ErrorCode::busy);
  other->roll_back();
  CHECK(is_persisted(store->apply(Commits{{term, 1, {}}})));
}

TEST_CASE("a database of a later version or of another encoding is refused") {
  const std::string uri = shared_server().make_database();
  open_store(uri);
  const auto connection = std::move(farm::PostgresConnection::open(uri).value());
  REQUIRE(connection->execute("INSERT INTO schema_version VALUES (7)", {}).is_ok());
  CHECK(farm::open_postgres_store(uri).status().code() == ErrorCode::version_mismatch);

  const std::string latin = shared_server().make_database("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  const auto opened = farm::open_postgres_store(latin);
  CHECK(opened.status().code() == ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ferry::test
