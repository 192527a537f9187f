// The columns of every table: databases of earlier versions hold rows like these, and others may read what is written.
#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "farm/store/sqlite_connection.h"
#include "farm/store/sqlite_store.h"
#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {
namespace {

using std::chrono::milliseconds;

constexpr const char* kRows[] = {
    R"(INSERT INTO boards (id, description, machine, shares_machine, state, boot_id, baseline_millidegrees, last_epoch,
       enrolled_tags) VALUES (3, '{"arch":"aarch64","cores":4,"cpu":"Cortex-A72","devices":[["cuda","sm_53"]],
       "features":["neon"],"memory_bytes":4294967296,"model":"rpi4","name":"pi-3","tags":{"rack":"2"}}', 'box', 1, 2, -1,
       NULL, 1025, '{"rack":"2"}'))",
    R"(INSERT INTO requests (id, holder, slots, priority, length, wait, kind, is_health_check, job, submitted)
       VALUES (9, 'anna', '[["rpi4","memory>=2G"]]', 50, 3600000, 600000, 1, 0, 'nightly', 1000))",
    "INSERT INTO leases (id, starts, ends, extension, set_at) VALUES (9, 2000, 3000, 2, 2500)",
    "INSERT INTO lease_parts (lease, slot, board, epoch) VALUES (9, 0, 3, 1025)",
    "INSERT INTO holders (holder, weight, board_seconds, at) VALUES ('anna', 2.5, 77.25, 4000)",
    "INSERT INTO hold_times (board, mean_seconds) VALUES (3, 12.5)",
    R"(INSERT INTO ended_requests (number, id, holder, slots, priority, length, wait, kind, is_health_check, job,
       submitted, starts, ended, reason, text) VALUES (4, 8, 'berta', '[["pi-3"]]', 7, 1, 2, 0, 1, '', 100, 200, 300, 0,
       'done'))",
    "INSERT INTO ended_parts (number, slot, lease, board, epoch, ended) VALUES (4, 0, 8, 3, 1024, 300)",
    R"(INSERT INTO audit_log (number, at, actor, action, board, text)
       VALUES (5, 1000, 'anna', 'retire', NULL, 'its card is worn'))",
    R"(INSERT INTO health_checks (number, board, at, job, picoseconds, baseline_picoseconds, verdict, millidegrees, text)
       VALUES (6, 3, 1000, 'compute', 2000, 1900, 'passed', 48312, '5% slower'))",
    "INSERT INTO health_states (board, state) VALUES (3, 'learned')",
    R"(INSERT INTO sessions (number, board, at, length, lease, holder, client, failure)
       VALUES (7, 3, 5000, 1500, 9, 'anna', 'ferry 0.1.0', 'a kernel crashed'))",
    R"(INSERT INTO credentials (kind, id, salt, label, role, token_hash, revoked, expires)
       VALUES (1, '12', '000102030405060708090a0b0c0d0e0f', 'anna', 3, NULL, 6000, NULL))",
};

// All that the tables hold, without the term.
std::string dump(const std::string& path) {
  const auto connection = std::move(farm::SqliteConnection::open(path, farm::Access::read).value());
  std::string text;
  for (const char* query :
       {"SELECT id, machine, shares_machine, state, boot_id, baseline_millidegrees, last_epoch FROM boards",
        "SELECT id, holder, slots, priority, length, wait, kind, is_health_check, job, submitted FROM requests",
        "SELECT id, starts, ends, extension, set_at FROM leases",
        "SELECT holder, weight, board_seconds, at FROM holders", "SELECT board, mean_seconds FROM hold_times",
        "SELECT at, actor, action, board, text FROM audit_log",
        "SELECT board, at, job, picoseconds, baseline_picoseconds, verdict, millidegrees, text FROM health_checks",
        "SELECT board, state FROM health_states",
        "SELECT board, at, length, lease, holder, client, failure FROM sessions",
        "SELECT kind, id, salt, label, role, token_hash, revoked, expires FROM credentials"}) {
    const farm::SqlResult found = connection->execute(query, {}).value();
    for (const farm::SqlRow& row : found.rows) {
      for (const farm::SqlValue& value : row) {
        if (const auto* number = std::get_if<std::int64_t>(&value)) text += std::to_string(*number);
        if (const auto* number = std::get_if<double>(&value)) text += std::to_string(*number);
        if (const auto* string = std::get_if<std::string>(&value)) text += *string;
        text += '|';
      }
      text += '\n';
    }
  }
  return text;
}

std::unique_ptr<farm::Store> open_store(const std::string& path) {
  auto opened = farm::open_sqlite_store(path);
  REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
  return std::move(opened.value().store);
}

TEST_CASE("rows of every table are read as they were written, and written the same again") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/old.db", copy = folder.path() + "/new.db";
  open_store(path).reset();
  {
    const auto connection = std::move(farm::SqliteConnection::open(path, farm::Access::write).value());
    for (const char* row : kRows) {
      CAPTURE(row);
      const auto done = connection->execute(row, {});
      REQUIRE_MESSAGE(done.is_ok(), done.status().message());
    }
  }
  const auto store = open_store(path);
  const farm::Snapshot snapshot = store->load().value();
  REQUIRE(snapshot.boards.size() == 1);
  CHECK(snapshot.boards[0].description.devices.at(0).arch == "sm_53");
  CHECK(snapshot.boards[0].boot_id == ~std::uint64_t{0});
  REQUIRE(snapshot.requests.size() == 1);
  CHECK(to_text(snapshot.requests[0].request.slots.at(0)) == "memory>=2G,rpi4");
  REQUIRE(snapshot.leases.size() == 1);
  CHECK(snapshot.leases[0].end == farm::Time(milliseconds(3000)));
  CHECK(snapshot.leases[0].parts.at(0).epoch == 1025);
  const auto ended = store->ended_leases({}).value();
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].start == farm::Time(milliseconds(200)));
  CHECK(ended[0].text == "done");
  CHECK(ended[0].request.is_health_check);
  CHECK(ended[0].parts.at(0).epoch == 1024);

  // The same records in a new database.
  const auto other = open_store(copy);
  farm::Persist commit{other->take_term().value(), 1, {}};
  for (const auto& record : snapshot.boards) commit.records.emplace_back(record);
  for (const auto& record : snapshot.requests) commit.records.emplace_back(record);
  for (const auto& record : snapshot.leases) commit.records.emplace_back(record);
  for (const auto& record : snapshot.holders) commit.records.emplace_back(record);
  for (const auto& record : snapshot.hold_times) commit.records.emplace_back(record);
  REQUIRE(other->apply({&commit, 1}).is_ok());
  const auto each = [](const auto& result, const auto& add) {
    for (const auto& one : result.value()) CHECK(add(one).is_ok());
  };
  each(store->audit_log({}), [&](const auto& one) { return other->add_audit_entry(one.entry); });
  each(store->health_entries({}), [&](const auto& one) { return other->add_health_entry(one.entry); });
  each(store->sessions({}), [&](const auto& one) { return other->add_session(one.entry); });
  each(store->health_states(), [&](const auto& one) { return other->set_health_state(one.board, one.state); });
  each(store->credentials(), [&](const auto& one) { return other->add_credential(one); });
  CHECK(dump(copy) == dump(path));
  CHECK(dump(path).find("anna|2.500000|77.250000|4000|") != std::string::npos);
}

}  // namespace
}  // namespace ferry::test
