// The history of leases, the audit log, credentials and the clock.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "tests/conformance/store/stores.h"
#include "tests/support/farm/describe.h"
#include "tests/support/farm/memory_store.h"
#include "tests/support/farm/random_records.h"

namespace ferry::test {
namespace {

template <class Entry>
std::vector<std::string> describe_all(const Result<std::vector<Entry>>& entries) {
  INFO(entries.status().message());
  REQUIRE(entries.is_ok());
  std::vector<std::string> lines;
  for (const Entry& entry : entries.value()) lines.push_back(describe(entry));
  return lines;
}

// A store and the one in memory that has gone through the same.
struct Twins {
  explicit Twins(const StoreKind& kind) : fixture(kind.make()), store(fixture->open()) {
    const farm::TrackerTerm term = store->take_term().value();
    REQUIRE(memory.take_term().value() == term);
    const std::vector<farm::Persist> commits = random.commits(term, 1000);
    REQUIRE(store->apply(commits).is_ok());
    REQUIRE(memory.apply(commits).is_ok());
    boards = store->load().value().boards;
    REQUIRE(boards.size() > 3);
    for (int i = 0; i < 200; ++i) {
      farm::AuditEntry entry{random.time(), random.name(), random.text(), {}, random.text()};
      if (i % 3 != 0) entry.board = boards[static_cast<std::size_t>(i) % boards.size()].id;
      REQUIRE(store->add_audit_entry(entry).is_ok());
      REQUIRE(memory.add_audit_entry(entry).is_ok());
    }
  }

  void check(const farm::HistoryQuery& query) {
    CHECK(describe_all(store->ended_leases(query)) == describe_all(memory.ended_leases(query)));
  }
  void check(const farm::AuditQuery& query) {
    CHECK(describe_all(store->audit_log(query)) == describe_all(memory.audit_log(query)));
  }

  std::unique_ptr<StoreFixture> fixture;
  std::unique_ptr<farm::Store> store;
  MemoryStore memory;
  RandomRecords random{3};
  std::vector<farm::BoardRecord> boards;
};

TEST_CASE("ended leases are found by board, by holder and by time") {
  for (const StoreKind& kind : all_databases()) {
    CAPTURE(kind.name);
    Twins twins(kind);
    CHECK(twins.store->ended_leases({}).value().size() > 100);
    twins.check(farm::HistoryQuery{});
    twins.check(farm::HistoryQuery{.holder = "ann"});
    twins.check(farm::HistoryQuery{.holder = "nobody"});
    for (int i = 0; i < 20; ++i) {
      farm::HistoryQuery query;
      query.board = twins.boards[static_cast<std::size_t>(i) % twins.boards.size()].id;
      twins.check(query);
      query.holder = twins.random.name();
      query.from = std::min(twins.random.time(), twins.random.time());
      twins.check(query);
      query.until = twins.random.time();
      twins.check(query);
      query.board.reset();
      twins.check(query);
    }
  }
}

TEST_CASE("pages of ended leases follow one another without gaps") {
  for (const StoreKind& kind : all_stores()) {
    CAPTURE(kind.name);
    Twins twins(kind);
    for (const bool with_board : {false, true}) {
      farm::HistoryQuery query;
      if (with_board) query.board = twins.boards.front().id;
      const auto all = twins.store->ended_leases(query).value();
      std::vector<std::string> lines;
      for (query.limit = 7;;) {
        const auto page = twins.store->ended_leases(query).value();
        for (const farm::EndedLease& lease : page) lines.push_back(describe(lease));
        if (page.empty()) break;
        query.before = {page.back().ended, page.back().request.id};
      }
      CHECK(lines.size() == all.size());
      CHECK(std::equal(lines.begin(), lines.end(), all.begin(),
                       [](const std::string& line, const farm::EndedLease& lease) { return line == describe(lease); }));
    }
  }
}

TEST_CASE("the audit log is found by board, by actor and by time, page by page") {
  for (const StoreKind& kind : all_databases()) {
    CAPTURE(kind.name);
    Twins twins(kind);
    farm::AuditQuery query;
    twins.check(query);
    query.limit = 9;
    twins.check(query);
    query.before = twins.store->audit_log(query).value().back().number;
    twins.check(query);
    query = {.board = twins.boards.front().id};
    twins.check(query);
    query.actor = "ann";
    twins.check(query);
    query = {.from = twins.random.time(), .until = twins.random.time()};
    twins.check(query);
  }
}

TEST_CASE("a purge deletes what is old, in portions, and never reuses a number") {
  for (const StoreKind& kind : all_databases()) {
    CAPTURE(kind.name);
    Twins twins(kind);
    const farm::Time before = twins.random.time();
    bool has_more = true;
    while (has_more) {
      const Result<bool> purged = twins.store->purge(before, 10);
      REQUIRE(purged.is_ok());
      CHECK(purged.value() == twins.memory.purge(before, 10).value());
      has_more = purged.value();
    }
    const auto kept = twins.store->ended_leases({}).value();
    CHECK(!kept.empty());
    for (const farm::EndedLease& lease : kept) CHECK(lease.ended >= before);
    twins.check(farm::HistoryQuery{});
    twins.check(farm::AuditQuery{});
    CHECK(!twins.store->purge(farm::Time::max(), 1'000'000).value());
    CHECK(twins.store->ended_leases({}).value().empty());
    CHECK(twins.store->add_audit_entry({}).is_ok());
    CHECK(twins.store->audit_log({}).value().front().number == 201);
  }
}

TEST_CASE("credentials are kept, and a revocation keeps its first time") {
  for (const StoreKind& kind : all_stores()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    const auto store = fixture->open();
    farm::Credential token{farm::CredentialKind::token, "t1", {}, "Ann's \"laptop\"", farm::Role::admin};
    for (std::size_t i = 0; i < token.salt.size(); ++i) token.salt[i] = static_cast<std::uint8_t>(i * 37);
    token.token_hash = token.salt;
    const farm::Credential board{farm::CredentialKind::board, "t1", {}, ""};
    CHECK(store->add_credential(token).is_ok());
    CHECK(store->add_credential(token).code() == ErrorCode::invalid_argument);
    CHECK(store->add_credential(board).is_ok());
    const farm::Time first(std::chrono::hours(1)), second(std::chrono::hours(2));
    CHECK(store->revoke_credential(token.kind, token.id, first).is_ok());
    CHECK(store->revoke_credential(token.kind, token.id, second).is_ok());
    CHECK(store->revoke_credential(farm::CredentialKind::client, "t1", first).code() == ErrorCode::not_found);

    const auto credentials = store->credentials().value();
    REQUIRE(credentials.size() == 2);
    CHECK(credentials[0].kind == farm::CredentialKind::board);
    CHECK(!credentials[0].token_hash);
    CHECK(!credentials[0].revoked);
    CHECK(credentials[1].salt == token.salt);
    CHECK(credentials[1].token_hash == token.token_hash);
    CHECK(credentials[1].label == token.label);
    CHECK(credentials[1].role == farm::Role::admin);
    CHECK(credentials[1].revoked == first);
  }
}

TEST_CASE("a database's clock shows the time") {
  for (const StoreKind& kind : all_databases()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    const auto store = fixture->open();
    const auto system = std::chrono::system_clock::now().time_since_epoch();
    const farm::Duration difference =
        store->now().value().time_since_epoch() - std::chrono::duration_cast<farm::Duration>(system);
    CHECK(std::chrono::abs(difference) < std::chrono::seconds(5));
  }
}

}  // namespace
}  // namespace ferry::test
