// The history of leases, health checks and sessions, the audit log, credentials and the clock.
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
      add_board_logs(boards[static_cast<std::size_t>(i) % boards.size()].id);
    }
  }

  void add_board_logs(farm::BoardId board) {
    const farm::HealthEntry entry{board,
                                  random.time(),
                                  random.name(),
                                  random.number(),
                                  random.number(),
                                  random.name(),
                                  random.number() % 2 == 0 ? std::nullopt : std::optional(-40'000),
                                  random.text()};
    const farm::SessionEntry session{board,
                                     random.time(),
                                     farm::Duration(random.number() >> 2),
                                     farm::LeaseId{random.number()},
                                     random.name(),
                                     random.name(),
                                     random.name()};
    for (farm::Store* one : {store.get(), static_cast<farm::Store*>(&memory)}) {
      REQUIRE(one->add_health_entry(entry).is_ok());
      REQUIRE(one->add_session(session).is_ok());
    }
  }

  void check(const farm::HistoryQuery& query) {
    CHECK(describe_all(store->ended_leases(query)) == describe_all(memory.ended_leases(query)));
  }
  void check(const farm::AuditQuery& query) {
    CHECK(describe_all(store->audit_log(query)) == describe_all(memory.audit_log(query)));
  }

  void check(const farm::NumberedQuery& query) {
    CHECK(describe_all(store->health_entries(query)) == describe_all(memory.health_entries(query)));
    CHECK(describe_all(store->sessions(query)) == describe_all(memory.sessions(query)));
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

TEST_CASE("whoever uses the id of an ended request again takes nothing out of the history") {
  for (const StoreKind& kind : all_stores()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    const auto store = fixture->open();
    const farm::TrackerTerm term = store->take_term().value();
    const farm::LeaseId id{7};
    farm::BoardRecord board;
    board.id = farm::BoardId{1};
    std::vector<farm::Record> records{board};
    farm::Time now(std::chrono::hours(1));
    const auto end_one = [&](const std::string& holder, lease::Epoch epoch) {
      farm::Request request{id, holder, {farm::parse_selector("rpi4").value()}};
      request.length = request.wait = std::chrono::minutes(1);
      records.push_back(farm::RequestRecord{request, now});
      records.push_back(farm::LeaseRecord{id, {{board.id, epoch}}, now, now + request.length, 0, now});
      now += std::chrono::seconds(1);
      records.push_back(farm::EndRecord{id, now, farm::EndReason::released, "by " + holder});
    };
    end_one("ann", 1);
    end_one("eve", 2);
    end_one("eve", 3);
    REQUIRE(store->apply(std::vector{farm::Persist{term, 1, records}}).is_ok());
    for (const auto& board_asked : {std::optional<farm::BoardId>(), std::optional(board.id)}) {
      farm::HistoryQuery query;
      query.board = board_asked;
      const auto ended = store->ended_leases(query).value();
      REQUIRE(ended.size() == 3);
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(ended[i].request.holder == (i == 2 ? "ann" : "eve"));
        REQUIRE(ended[i].parts.size() == 1);
        CHECK(ended[i].parts[0].epoch == 3 - i);
      }
      query.holder = "ann";
      CHECK(store->ended_leases(query).value().size() == 1);
    }
    // The report of a session may come after the lease's end, and then counts for whoever had that lease.
    for (const lease::Epoch epoch : {1, 2, 9}) {
      farm::SessionEntry session{board.id, now, {}, id, "", "client", ""};
      session.epoch = epoch;
      REQUIRE(store->add_session(session).is_ok());
    }
    farm::SessionEntry elsewhere{farm::BoardId{2}, now, {}, id, "", "client", ""};
    elsewhere.epoch = 1;
    REQUIRE(store->add_session(elsewhere).is_ok());
    const auto sessions = store->sessions({}).value();
    REQUIRE(sessions.size() == 4);
    CHECK(sessions[0].entry.holder.empty());
    CHECK(sessions[1].entry.holder.empty());
    CHECK(sessions[2].entry.holder == "eve");
    CHECK(sessions[3].entry.holder == "ann");
    CHECK(store->purge(now, 2).value());
    REQUIRE(store->ended_leases({}).value().size() == 1);
    CHECK(store->ended_leases({}).value()[0].parts[0].epoch == 3);
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

TEST_CASE("health checks and sessions are found by board, page by page") {
  for (const StoreKind& kind : all_databases()) {
    CAPTURE(kind.name);
    Twins twins(kind);
    CHECK(twins.store->health_entries({}).value().size() == 200);
    twins.check(farm::NumberedQuery{});
    twins.check(farm::NumberedQuery{.board = farm::BoardId{987654}});
    for (std::optional<farm::BoardId> board : {std::optional<farm::BoardId>(), std::optional(twins.boards[1].id)}) {
      farm::NumberedQuery query{.board = board};
      const std::size_t count = twins.store->sessions(query).value().size();
      CHECK(count > 3);
      std::size_t read = 0;
      for (query.limit = 3;;) {
        twins.check(query);
        const auto page = twins.store->sessions(query).value();
        if (page.empty()) break;
        read += page.size();
        query.before = page.back().number;
      }
      CHECK(read == count);
    }
  }
}

TEST_CASE("the report of a failed session is kept up to its limit, and a longer one is refused") {
  for (const StoreKind& kind : all_databases()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    const auto store = fixture->open();
    farm::SessionEntry session;
    session.failure = std::string(farm::kMaxFailureBytes, '\'');
    CHECK(store->add_session(session).is_ok());
    CHECK(store->sessions({}).value().at(0).entry.failure == session.failure);
    session.failure += 'x';
    const Status refused = store->add_session(session);
    CHECK(refused.code() == ErrorCode::invalid_argument);
    CHECK(refused.message() == "expected the report of a failure of at most 2048 bytes, got 2049");
    CHECK(store->sessions({}).value().size() == 1);
  }
}

TEST_CASE("what was learned of a board's health is replaced, and outlives the checks") {
  for (const StoreKind& kind : all_stores()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    auto store = fixture->open();
    const farm::BoardId first{1}, second{~std::uint64_t{0}};
    CHECK(store->set_health_state(first, "{\"a\": 1}").is_ok());
    CHECK(store->set_health_state(second, "it's another").is_ok());
    CHECK(store->set_health_state(first, "{\"a\": 2}").is_ok());
    CHECK(store->purge(farm::Time::max(), 1000).is_ok());
    if (kind.is_database) {
      store.reset();
      store = fixture->open();
    }
    auto states = store->health_states().value();
    REQUIRE(states.size() == 2);
    std::sort(states.begin(), states.end(), [](const auto& a, const auto& b) { return a.board < b.board; });
    CHECK(states[0].board == first);
    CHECK(states[0].state == "{\"a\": 2}");
    CHECK(states[1].board == second);
    CHECK(states[1].state == "it's another");
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
    twins.check(farm::NumberedQuery{});
    CHECK(twins.store->sessions({}).value().size() < 200);
    CHECK(!twins.store->purge(farm::Time::max(), 1'000'000).value());
    CHECK(twins.store->ended_leases({}).value().empty());
    CHECK(twins.store->add_audit_entry({}).is_ok());
    CHECK(twins.store->audit_log({}).value().front().number == 201);
    CHECK(twins.store->sessions({}).value().size() == 1);
    twins.add_board_logs(farm::BoardId{1});
    CHECK(twins.store->health_entries({}).value().front().number == 201);
    CHECK(twins.store->sessions({}).value().front().number == 201);
  }
}

TEST_CASE("credentials are kept, and a revocation keeps its first time") {
  for (const StoreKind& kind : all_stores()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    const auto store = fixture->open();
    farm::Credential token{farm::CredentialKind::token, "t1", {}, "Ann's \"laptop\"", farm::Role::admin};
    for (std::size_t i = 0; i < token.salt.size(); ++i) token.salt[i] = static_cast<std::uint8_t>(i * 37);
    token.token_hash.emplace();
    for (std::size_t i = 0; i < token.token_hash->size(); ++i)
      (*token.token_hash)[i] = static_cast<std::uint8_t>(i * 91);
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

TEST_CASE("a board that is enrolled again gets another salt, and an enrolment that was used is deleted") {
  for (const StoreKind& kind : all_stores()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    const auto store = fixture->open();
    farm::Credential enrolment{farm::CredentialKind::enrolment, "pi-3", {1, 2, 3}, "pi-3"};
    const farm::Credential board{farm::CredentialKind::board, "pi-3", {9}, "pi-3"};
    CHECK(store->replace_credential(enrolment).is_ok());
    CHECK(store->add_credential(board).is_ok());
    CHECK(store->revoke_credential(enrolment.kind, enrolment.id, farm::Time(farm::Duration(5))).is_ok());
    enrolment.salt = {4, 5, 6};
    CHECK(store->add_credential(enrolment).code() == ErrorCode::invalid_argument);
    CHECK(store->replace_credential(enrolment).is_ok());
    auto credentials = store->credentials().value();
    REQUIRE(credentials.size() == 2);
    CHECK(credentials[1].kind == farm::CredentialKind::enrolment);
    CHECK(credentials[1].salt == enrolment.salt);
    CHECK(!credentials[1].revoked);
    CHECK(store->delete_credential(enrolment.kind, enrolment.id).is_ok());
    CHECK(store->delete_credential(enrolment.kind, enrolment.id).code() == ErrorCode::not_found);
    credentials = store->credentials().value();
    REQUIRE(credentials.size() == 1);
    CHECK(credentials[0].salt == board.salt);
  }
}

TEST_CASE("a credential of an unknown kind or role is refused") {
  for (const StoreKind& kind : all_databases()) {
    CAPTURE(kind.name);
    const auto fixture = kind.make();
    const auto store = fixture->open();
    farm::Credential credential{static_cast<farm::CredentialKind>(5), "x", {}, ""};
    CHECK(store->add_credential(credential).code() == ErrorCode::invalid_argument);
    credential.kind = farm::CredentialKind::client;
    credential.role = static_cast<farm::Role>(0);
    CHECK(store->replace_credential(credential).code() == ErrorCode::invalid_argument);
    CHECK(store->credentials().value().empty());
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
