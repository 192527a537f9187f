// Rows of baselines and verdicts as every version has written them: later ones must read them, and write the same.
#include "tests/unit/farm/store/modules/stored_objects.h"

namespace ferry::test {
namespace {

const std::string kModule(64, '1'), kBlob(64, '2'), kIdentity(64, 'e');

const std::string kRows[] = {
    "INSERT INTO objects (hash, upload, bytes, used) VALUES ('" + kModule + "', 1, 0, 0), ('" + kBlob + "', 2, 0, 0)",
    "INSERT INTO baselines (suite, name, case_name, target, module, identity, label, stored, holder, bytes) VALUES "
    "('vision', 'main', 'mm', 'x86_64', '" +
        kModule + "', '" + kIdentity + "', '1f3a', 1700000000, 'anna', 656)",
    "INSERT INTO baseline_objects (suite, name, case_name, target, place, object) VALUES "
    "('vision', 'main', 'mm', 'x86_64', 0, '" +
        kModule + "'), ('vision', 'main', 'mm', 'x86_64', 1, '" + kBlob + "')",
};

// All that the tables of baselines and verdicts hold.
std::vector<farm::SqlRow> dump(farm::SqlConnection& connection) {
  std::vector<farm::SqlRow> rows;
  for (const char* query :
       {"SELECT suite, name, case_name, target, module, identity, label, stored, holder, bytes FROM baselines",
        "SELECT suite, name, case_name, target, place, object FROM baseline_objects ORDER BY place",
        "SELECT number, suite, case_name, line, holder, bytes FROM verdicts"}) {
    const auto found = farm::execute(connection, query);
    REQUIRE_MESSAGE(found.is_ok(), found.status().message());
    rows.insert(rows.end(), found.value().rows.begin(), found.value().rows.end());
  }
  return rows;
}

TEST_CASE("rows of baselines and verdicts are read as they were written, and written the same again") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database);
    const auto connection = connect_to(database);
    for (const std::string& row : kRows) {
      CAPTURE(row);
      const auto done = farm::execute(*connection, row);
      REQUIRE_MESSAGE(done.is_ok(), done.status().message());
    }
    REQUIRE(farm::execute(*connection,
                          "INSERT INTO verdicts (number, suite, case_name, line, holder, bytes) "
                          "VALUES (1, 'vision', 'mm', $1, 'berta', 222)",
                          Bytes{'f', 'a', 's', 't', 'e', 'r'})
                .is_ok());
    const std::vector<farm::SqlRow> before = dump(*connection);
    const auto baseline = store->answer(1, ListBaseline{"vision", "main", 0});
    REQUIRE_MESSAGE(baseline.is_ok(), baseline.status().message());
    REQUIRE(baseline.value().entries.size() == 1);
    const BaselineListing entry = baseline.value().entries[0];
    CHECK(entry.name == "mm");
    CHECK(entry.target == "x86_64");
    CHECK(to_hex(entry.module) == kModule);
    CHECK(to_hex(entry.identity) == kIdentity);
    REQUIRE(entry.blobs.size() == 1);
    CHECK(to_hex(entry.blobs[0]) == kBlob);
    CHECK(entry.label == "1f3a");
    CHECK(entry.stored_s == 1'700'000'000);
    CHECK(entry.holder == "anna");
    const auto verdicts = store->answer(1, ListVerdicts{"vision", "mm", 0});
    REQUIRE_MESSAGE(verdicts.is_ok(), verdicts.status().message());
    REQUIRE(verdicts.value().verdicts.size() == 1);
    const VerdictListing verdict = verdicts.value().verdicts[0];
    CHECK(verdict.number == 1);
    CHECK(verdict.holder == "berta");

    for (const char* table : {"baselines", "baseline_objects", "verdicts"}) {
      REQUIRE(farm::execute(*connection, std::string("DELETE FROM ") + table).is_ok());
    }
    const auto set = store->answer(1, ModuleStore::SetBaselineOf{{"vision", "main", entry}, entry.holder});
    REQUIRE_MESSAGE(set.is_ok(), set.status().message());
    REQUIRE(set.value().missing.empty());
    REQUIRE(store->answer(1, ModuleStore::AddVerdictOf{{"vision", "mm", verdict.line}, verdict.holder}).is_ok());
    CHECK(dump(*connection) == before);
  });
}

}  // namespace
}  // namespace ferry::test
