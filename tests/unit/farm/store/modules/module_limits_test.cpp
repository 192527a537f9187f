// What is sent again, and what does not count towards the quota.
#include "farm/store/modules/baseline_tables.h"
#include "tests/unit/farm/store/modules/stored_objects.h"

namespace ferry::test {
namespace {

TEST_CASE("a verdict that is sent again, because its answer was lost, is added once") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database);
    const auto add = [&](const std::string& suite, const std::string& name, std::uint8_t line) {
      REQUIRE(store->answer(1, by_anna(AddVerdict{suite, name, {line}})).is_ok());
    };
    for (const std::uint8_t line : {'1', '2', '1', '2', '3', '2'}) add("suite", "mm", line);
    add("suite", "pool", '2');
    add("other", "mm", '2');
    CHECK(store->answer(1, ListVerdicts{"suite", "mm", 0}).value().verdicts.size() == 3);
    CHECK(store->answer(1, ListVerdicts{"suite", "", 0}).value().verdicts.size() == 4);
    CHECK(store->answer(1, ListVerdicts{"other", "", 0}).value().verdicts.size() == 1);
    CHECK(store->answer(1, ListVerdicts{"suite", "mm", 0}).value().verdicts.at(0).line == Bytes{'3'});
  });
}

TEST_CASE("of too many verdicts, the oldest go of the largest suite of whoever has added most, and others' stay") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database);
    const auto connection = connect_to(database);
    const auto add = [&](const char* holder, const char* suite, const std::string& line) {
      REQUIRE(store->answer(1, ModuleStore::AddVerdictOf{{suite, "mm", {line.begin(), line.end()}}, holder}).is_ok());
    };
    const auto count = [&](const std::string& condition) {
      return count_of(*connection, "verdicts WHERE " + condition);
    };
    for (int i = 0; i < 30; ++i) add("anna", "vision", std::to_string(i));
    for (int i = 0; i < 20; ++i) add("eve", "small", std::to_string(i));
    // As if eve had added so many, every fourth to a suite of its own.
    const std::int64_t many = static_cast<std::int64_t>(farm::kMostVerdicts) - 150, own = many / 4;
    const auto added =
        farm::execute(*connection,
                      "WITH RECURSIVE n (i) AS (SELECT CAST(101 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $1) "
                      "INSERT INTO verdicts (number, suite, case_name, line, holder) "
                      "SELECT i, CASE WHEN i % 4 = 0 THEN CAST(i AS TEXT) ELSE 'large' END, 'mm', $2, 'eve' FROM n",
                      100 + many, farm::SqlBytes{'x'});
    REQUIRE_MESSAGE(added.is_ok(), added.status().message());
    for (int i = 0; i < 350; ++i) add("eve", "large", "new " + std::to_string(i));
    CHECK(count("holder = 'anna'") == 30);
    CHECK(count("suite = 'small'") == 20);
    const std::int64_t all = count("number > 0"), large = count("suite = 'large'");
    CHECK(all <= static_cast<std::int64_t>(farm::kMostVerdicts));
    CHECK(all >= static_cast<std::int64_t>(farm::kMostVerdicts - 2 * farm::kVerdictsDeleted));
    CHECK(all - large == 50 + own);
    // The oldest of the large suite are gone.
    const std::int64_t gone = many - own + 350 - large;
    CHECK(gone >= 200);
    const std::int64_t last_gone = 101 + (gone - 1) / 3 * 4 + (gone - 1) % 3;
    CHECK(count("suite = 'large' AND number <= " + std::to_string(last_gone)) == 0);
    CHECK(store->answer(1, ListVerdicts{"vision", "mm", 0}).value().verdicts.size() == 30);
  });
}

TEST_CASE("verdicts count towards the quota, and take no more than a quarter of it") {
  for_each_database([](const std::string& database) {
    constexpr std::uint64_t kQuota = std::uint64_t{1} << 20;
    const auto store = open_at(database, kQuota);
    const auto connection = connect_to(database);
    const auto add = [&](const std::string& holder, std::uint32_t seed) {
      const ModuleStore::AddVerdictOf verdict{{"vision", "mm", contents(kMaxVerdict, seed)}, holder};
      const Status added = store->answer(1, verdict).status();
      REQUIRE_MESSAGE(added.is_ok(), added.message());
    };
    for (std::uint32_t i = 0; i < 8; ++i) add("ann", i);
    // As many as would take the whole quota.
    for (std::uint32_t i = 0; i < kQuota / kMaxVerdict; ++i) add("eve", 1000 + i);
    const auto trimmed = store->answer(1, TrimObjects{});
    REQUIRE(trimmed.is_ok());
    CHECK(trimmed.value().bytes == trimmed.value().kept);
    CHECK(trimmed.value().bytes >= kQuota / 8);
    CHECK(trimmed.value().bytes <= kQuota / 4 + 16 * (kMaxVerdict + 300));
    const auto of_ann = farm::execute(*connection, "SELECT COUNT(*) FROM verdicts WHERE holder = 'ann'");
    CHECK(farm::only_number(of_ann.value()).value() == 8);
    // What they take is missing to objects.
    const std::uint64_t left = kQuota - trimmed.value().bytes;
    CHECK(put(*store, 1, blake2b(contents(left + 1, 1)), contents(left + 1, 1)).code() ==
          ErrorCode::resource_exhausted);
    CHECK(put(*store, 1, blake2b(contents(left, 2)), contents(left, 2)).is_ok());
  });
}

TEST_CASE("the names of baselines do not fill the disk beside the quota") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database);
    const Hash object = put(*store, contents(3, 1));
    const auto connection = connect_to(database);
    REQUIRE(store->answer(1, by_anna(baseline_of("mm", object, {object}))).is_ok());
    const auto bytes = farm::execute(*connection, "SELECT bytes FROM baselines");
    CHECK(farm::only_number(bytes.value()).value() > 64 * 3);
    REQUIRE(farm::execute(*connection,
                          "INSERT INTO baselines (suite, name, case_name, target, module, identity, label, stored, "
                          "bytes) VALUES ('x', 'x', 'x', 'x', 'x', 'x', 'x', 0, $1)",
                          farm::kMostBaselineBytes)
                .is_ok());
    CHECK(store->answer(1, by_anna(baseline_of("conv", object, {object}))).status().code() ==
          ErrorCode::resource_exhausted);
    CHECK(store->answer(1, ListBaseline{"suite", "main", 0}).value().entries.size() == 1);
  });
}

TEST_CASE("tiny objects, and baselines that name many, do not fill the disk beside the quota") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database);
    const Hash object = put(*store, contents(3, 1));
    const auto connection = connect_to(database);
    const auto repeat = [&](const std::string& statement, std::uint64_t most) {
      const auto done =
          farm::execute(*connection,
                        "WITH RECURSIVE n (i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n "
                        "WHERE i < $2) " +
                            statement,
                        1, most);
      REQUIRE_MESSAGE(done.is_ok(), done.status().message());
    };
    repeat(
        "INSERT INTO baseline_objects (suite, name, case_name, target, place, object) SELECT 'x', 'x', 'x', 'x', i, "
        "'x' FROM n",
        farm::kMostBaselineObjects - 2);
    const Status many = store->answer(1, by_anna(baseline_of("mm", object, {object, object}))).status();
    CHECK(many.code() == ErrorCode::resource_exhausted);
    CHECK(store->answer(1, ListBaseline{"suite", "main", 0}).value().entries.empty());
    CHECK(store->answer(1, by_anna(baseline_of("mm", object, {object}))).is_ok());
    CHECK(store->answer(1, by_anna(baseline_of("mm", object, {object}))).is_ok());  // in place of the one before
    repeat("INSERT INTO objects (hash, upload, bytes, used) SELECT CAST(i AS TEXT), -i, 0, 0 FROM n",
           farm::kMostObjects - 1);
    CHECK(put(*store, 1, blake2b(contents(4, 2)), contents(4, 2)).code() == ErrorCode::resource_exhausted);
    CHECK(count_of(*connection, "pieces") == 1);
    CHECK(put(*store, 1, object, contents(3, 1)).is_ok());
  });
}

TEST_CASE("a tracker that schedules again takes no more of an object that it was sent before") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database, 100);
    const Bytes bytes = contents(60, 1);
    const PutObject first{blake2b(bytes), 60, 0, {bytes.begin(), bytes.begin() + 20}};
    const PutObject second{blake2b(bytes), 60, 20, {bytes.begin() + 20, bytes.end()}};
    REQUIRE(store->answer(1, first).is_ok());
    store->drop_uploads();
    REQUIRE(store->delete_left_over().is_ok());
    CHECK(put(*store, 2, blake2b(contents(70, 2)), contents(70, 2)).is_ok());  // nothing else is on its way
    CHECK(store->answer(1, second).status().code() == ErrorCode::aborted);
  });
}

TEST_CASE("an object that is only announced has nothing deleted beyond its first part") {
  for_each_database([](const std::string& database) {
    constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;
    const auto store = open_at(database, 40 * kMegabyte);
    std::vector<Hash> old;
    for (std::uint32_t i = 0; i < 6; ++i) old.push_back(put(*store, contents(4 * kMegabyte, i)));
    make_older(database, std::chrono::minutes(61));
    REQUIRE(store->answer(1, PutObject{blake2b({}), 40 * kMegabyte, 0, {0}}).is_ok());
    // 16 of the 40 megabytes are reserved, beside 24 of the old ones.
    for (const Hash& object : old) CHECK(store->answer(1, ModuleStore::FindUnused{{{object}}}).value().is_stored.at(0));
    // Finding them like this has used none of them.
    REQUIRE(store->answer(2, PutObject{blake2b(contents(1, 1)), 4 * kMegabyte, 0, {0}}).is_ok());
    int left = 0;
    for (const Hash& object : old)
      left += store->answer(1, ModuleStore::FindUnused{{{object}}}).value().is_stored.at(0);
    CHECK(left == 5);
  });
}

}  // namespace
}  // namespace ferry::test
