// What a farm keeps of modules and verdicts, in both databases.
#include "farm/store/modules/baseline_tables.h"
#include "tests/unit/farm/store/modules/stored_objects.h"

namespace ferry::test {
namespace {

TEST_CASE("objects of all sizes come back as they were sent, also from another connection") {
  for_each_database([](const std::string& database) {
    std::vector<Hash> objects;
    const std::size_t sizes[] = {0,
                                 1,
                                 kMaxPieceSent - 1,
                                 kMaxPieceSent,
                                 kMaxPieceSent + 1,
                                 kPieceBytes,
                                 kPieceBytes + 1,
                                 2 * kPieceBytes,
                                 3 * kPieceBytes - 7,
                                 1'000'003};
    {
      const auto store = open_at(database);
      for (const std::size_t size : sizes) objects.push_back(put(*store, contents(size, 7)));
    }
    const auto store = open_at(database);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      CAPTURE(sizes[i]);
      CHECK(has(*store, objects[i]));
      CHECK(get(*store, objects[i]) == contents(sizes[i], 7));
      const auto beyond = store->answer(1, GetObject{objects[i], sizes[i] + 1});
      REQUIRE(beyond.is_ok());
      CHECK(beyond.value().piece.empty());
    }
    const auto middle = store->answer(1, GetObject{objects.back(), kPieceBytes + 5});
    REQUIRE(middle.is_ok());
    const Bytes all = contents(sizes[9], 7);
    CHECK(middle.value().piece == Bytes(all.begin() + kPieceBytes + 5, all.begin() + 2 * kPieceBytes));
    CHECK(store->answer(1, GetObject{blake2b(contents(3, 9)), 0}).status().code() == ErrorCode::not_found);
  });
}

TEST_CASE("contents with another hash are refused and leave nothing") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database);
    const Bytes bytes = contents(2 * kPieceBytes + 5, 1);
    const Hash other = blake2b(contents(5, 2));
    const Status refused = put(*store, 1, other, bytes);
    CHECK(refused.code() == ErrorCode::invalid_argument);
    CHECK(!has(*store, other));
    const auto connection = connect_to(database);
    CHECK(count_of(*connection, "objects") == 0);
    CHECK(count_of(*connection, "pieces") == 0);
  });
}

TEST_CASE("pieces that do not follow each other are refused, and the object must be sent again") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database);
    const Bytes bytes = contents(40, 1);
    const Hash object = blake2b(bytes);
    const PutObject first{object, 40, 0, {bytes.begin(), bytes.begin() + 20}};
    const PutObject second{object, 40, 20, {bytes.begin() + 20, bytes.end()}};
    const auto code = [&](ModuleStore::Sender sender, const PutObject& piece) {
      return store->answer(sender, piece).status().code();
    };
    CHECK(code(1, second) == ErrorCode::aborted);
    CHECK(code(1, first) == ErrorCode::ok);
    CHECK(code(2, second) == ErrorCode::aborted);  // another connection's
    PutObject elsewhere = second;
    elsewhere.offset = 21;
    CHECK(code(1, elsewhere) == ErrorCode::aborted);
    CHECK(code(1, second) == ErrorCode::aborted);  // what came before was dropped
    CHECK(code(1, first) == ErrorCode::ok);
    PutObject larger = second;
    larger.bytes = 41;
    CHECK(code(1, larger) == ErrorCode::aborted);
    CHECK(code(1, first) == ErrorCode::ok);
    PutObject longer = second;
    longer.piece.push_back(0);
    CHECK(code(1, longer) == ErrorCode::invalid_argument);
    CHECK(code(1, first) == ErrorCode::ok);
    CHECK(code(1, PutObject{object, 40, 20, {}}) == ErrorCode::invalid_argument);
    CHECK(code(1, PutObject{object, kMaxObject + 1, 0, {1}}) == ErrorCode::invalid_argument);
    CHECK(!has(*store, object));
    // Two connections send the same object at the same time.
    CHECK(code(1, first) == ErrorCode::ok);
    CHECK(code(2, first) == ErrorCode::ok);
    CHECK(code(1, second) == ErrorCode::ok);
    CHECK(code(2, second) == ErrorCode::ok);
    CHECK(get(*store, object) == bytes);
    CHECK(count_of(*connect_to(database), "pieces") == 1);
  });
}

TEST_CASE("the pieces of a connection that has ended, and of a tracker that was killed, are deleted") {
  for_each_database([](const std::string& database) {
    const Bytes bytes = contents(2 * kPieceBytes, 1);
    const auto begin_sending = [&](ModuleStore& store) {
      for (std::size_t offset = 0; offset < kPieceBytes + kMaxPieceSent; offset += kMaxPieceSent) {
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
        REQUIRE(store
                    .answer(1, PutObject{blake2b(bytes),
                                         bytes.size(),
                                         offset,
                                         {begin, begin + static_cast<std::ptrdiff_t>(kMaxPieceSent)}})
                    .is_ok());
      }
    };
    const auto connection = connect_to(database);
    {
      const auto store = open_at(database);
      put(*store, contents(10, 2));
      begin_sending(*store);
      CHECK(count_of(*connection, "pieces") == 2);
      store->forget(1);
      CHECK(count_of(*connection, "pieces") == 1);
      begin_sending(*store);
    }
    const auto store = open_at(database);
    CHECK(count_of(*connection, "pieces") == 2);
    CHECK(store->delete_left_over().is_ok());
    CHECK(count_of(*connection, "pieces") == 1);
    CHECK(get(*store, blake2b(contents(10, 2))) == contents(10, 2));
  });
}

TEST_CASE("beyond the quota, the oldest objects that no baseline needs make room, and others never do") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database, 100);
    const Hash needed = put(*store, contents(30, 1)), blob = put(*store, contents(10, 2));
    CHECK(store->answer(1, by_anna(baseline_of("mm", needed, {blob}))).value().missing.empty());
    const Hash old = put(*store, contents(30, 3));
    // All were used just now.
    const Status full = put(*store, 1, blake2b(contents(40, 4)), contents(40, 4));
    CHECK(full.code() == ErrorCode::resource_exhausted);
    for (const char* size : {"40 bytes", "100 bytes", "70 bytes"})
      CHECK(full.message().find(size) != std::string::npos);
    make_older(database, std::chrono::minutes(61));
    const Hash used = put(*store, contents(20, 5));
    make_older(database, std::chrono::minutes(61));
    CHECK(has(*store, used));  // marks it used
    CHECK(put(*store, 1, blake2b(contents(40, 4)), contents(40, 4)).is_ok());
    CHECK(!has(*store, old));
    CHECK(has(*store, used));
    CHECK(has(*store, needed));
    CHECK(has(*store, blob));
    make_older(database, std::chrono::minutes(61));
    const auto trimmed = store->answer(1, TrimObjects{});
    REQUIRE(trimmed.is_ok());
    CHECK(trimmed.value().bytes == 100);
    CHECK(trimmed.value().kept == 40);
    CHECK(trimmed.value().quota == 100);
    CHECK(put(*store, 1, blake2b(contents(101, 1)), contents(101, 1)).code() == ErrorCode::resource_exhausted);
    // What others are sending counts too.
    CHECK(store->answer(7, PutObject{blake2b(contents(50, 6)), 50, 0, {0}}).is_ok());
    CHECK(put(*store, 8, blake2b(contents(20, 7)), contents(20, 7)).code() == ErrorCode::resource_exhausted);
    store->forget(7);
    CHECK(put(*store, 8, blake2b(contents(20, 7)), contents(20, 7)).is_ok());
  });
}

TEST_CASE("a baseline takes modules whose objects are stored, and keeps the one that was stored last") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database);
    const Hash first = put(*store, contents(3, 1)), second = put(*store, contents(3, 2)), blob = put(*store, {});
    const Hash unknown = blake2b(contents(3, 3));
    const auto set = [&](const SetBaseline& request) {
      const auto answer = store->answer(1, by_anna(request));
      REQUIRE_MESSAGE(answer.is_ok(), answer.status().message());
      return answer.value();
    };
    CHECK(set(baseline_of("mm", unknown, {blob, unknown})).missing == std::vector<Hash>{unknown, unknown});
    CHECK(set(baseline_of("mm", first, {blob, blob}, 1000)).missing.empty());
    CHECK(set(baseline_of("mm", second, {}, 999)).is_older);
    const auto entries = [&](const std::string& suite, const std::string& name) {
      return store->answer(1, ListBaseline{suite, name, 0}).value().entries;
    };
    REQUIRE(entries("suite", "main").size() == 1);
    CHECK(entries("suite", "main").at(0).module == first);
    CHECK(entries("suite", "main").at(0).blobs == std::vector<Hash>{blob, blob});
    CHECK(entries("suite", "main").at(0).stored_s == 1000);
    CHECK(entries("suite", "other").empty());
    CHECK(entries("other", "main").empty());
    // A clock that is ahead keeps nobody from replacing the module later.
    CHECK(!set(baseline_of("mm", second, {}, std::int64_t{1} << 60)).is_older);
    const std::int64_t now =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    CHECK(entries("suite", "main").at(0).stored_s <= now);
    CHECK(!set(baseline_of("mm", first, {}, now + 5)).is_older);
    CHECK(entries("suite", "main").at(0).module == first);
    CHECK(entries("suite", "main").at(0).blobs.empty());
  });
}

TEST_CASE("a baseline that is deleted keeps nothing any more, and others keep what they share with it") {
  for_each_database([](const std::string& database) {
    constexpr std::uint64_t kVerdict = 215;  // with its row
    const auto store = open_at(database, 100 + kVerdict);
    const Hash first = put(*store, contents(30, 1)), second = put(*store, contents(30, 2));
    const Hash shared = put(*store, contents(20, 3));
    SetBaseline other = baseline_of("mm", shared);
    other.name = "release";
    REQUIRE(store->answer(1, by_anna(baseline_of("mm", first, {shared}))).is_ok());
    REQUIRE(store->answer(1, by_anna(baseline_of("pool", second))).is_ok());
    SetBaseline other_target = baseline_of("mm", first);
    other_target.entry.target = "aarch64";
    REQUIRE(store->answer(1, by_anna(other_target)).is_ok());
    REQUIRE(store->answer(1, by_anna(other)).is_ok());
    REQUIRE(store->answer(1, by_anna(AddVerdict{"suite", "mm", {'1'}})).is_ok());
    const auto cases_of = [&](const std::string& suite, const std::string& name) {
      const auto deleted = store->answer(1, DeleteBaseline{suite, name});
      REQUIRE_MESSAGE(deleted.is_ok(), deleted.status().message());
      return deleted.value().cases;
    };
    CHECK(cases_of("suite", "none") == 0);
    CHECK(cases_of("other", "main") == 0);
    CHECK(store->answer(1, TrimObjects{}).value().kept == 80 + kVerdict);
    CHECK(cases_of("suite", "main") == 2);
    CHECK(cases_of("suite", "main") == 0);
    CHECK(store->answer(1, ListBaseline{"suite", "main", 0}).value().entries.empty());
    CHECK(store->answer(1, ListBaseline{"suite", "release", 0}).value().entries.size() == 1);
    CHECK(store->answer(1, ListBaselines{"suite"}).value().names == std::vector<std::string>{"release"});
    CHECK(store->answer(1, ListVerdicts{"suite", "mm", 0}).value().verdicts.size() == 1);
    CHECK(count_of(*connect_to(database), "baseline_objects") == 1);
    make_older(database, std::chrono::minutes(61));
    CHECK(put(*store, 1, blake2b(contents(80, 4)), contents(80, 4)).is_ok());
    CHECK(!has(*store, first));
    CHECK(!has(*store, second));
    CHECK(has(*store, shared));
  });
}

TEST_CASE("long baselines and histories come in pages, which together have every entry once") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database);
    const Hash module = put(*store, contents(3, 1));
    constexpr int kCount = 203;
    for (int i = 0; i < kCount; ++i) {
      REQUIRE(store->answer(1, by_anna(baseline_of("case" + std::to_string(i), module))).is_ok());
      const std::string line = std::string(static_cast<std::size_t>(i) * 40, 'x') + std::to_string(i);
      REQUIRE(store->answer(1, by_anna(AddVerdict{"suite", i % 2 == 0 ? "even" : "odd", {line.begin(), line.end()}}))
                  .is_ok());
    }
    std::vector<std::string> names;
    ListBaseline query{"suite", "main", 0};
    for (bool has_more = true; has_more;) {
      const auto page = store->answer(1, query).value();
      for (const BaselineListing& entry : page.entries) names.push_back(entry.name);
      query.after += static_cast<std::uint32_t>(page.entries.size());
      has_more = page.has_more;
    }
    CHECK(names.size() == kCount);
    CHECK(std::ranges::is_sorted(names));
    CHECK(std::ranges::adjacent_find(names) == names.end());
    for (const auto& [name, expected] : {std::pair<std::string, std::size_t>{"", 203}, {"even", 102}, {"none", 0}}) {
      ListVerdicts verdicts{"suite", name, 0};
      std::size_t count = 0, pages = 0;
      for (bool has_more = true; has_more; ++pages) {
        const auto page = store->answer(1, verdicts).value();
        std::size_t bytes = 0;
        for (const VerdictListing& verdict : page.verdicts) {
          bytes += verdict.line.size();
          CHECK((verdicts.before == 0 || verdict.number < verdicts.before));
          verdicts.before = verdict.number;
        }
        CHECK(bytes <= (std::size_t{256} << 10) + kMaxVerdict);
        count += page.verdicts.size();
        has_more = page.has_more;
      }
      CAPTURE(name);
      CHECK(count == expected);
    }
    CHECK(store->answer(1, ListVerdicts{"other", "", 0}).value().verdicts.empty());
  });
}

TEST_CASE("an object that lost a piece is reported as damage, and a text with a NUL is refused") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database);
    const Hash object = put(*store, contents(2 * kPieceBytes, 1));
    REQUIRE(farm::execute(*connect_to(database), "DELETE FROM pieces WHERE number = 1").is_ok());
    const auto lost = store->answer(1, GetObject{object, kPieceBytes});
    CHECK(lost.status().code() == ErrorCode::device_error);
    CHECK(lost.status().message().find(to_hex(object)) != std::string::npos);
    SetBaseline request = baseline_of("mm", object);
    request.suite = std::string("a\0b", 3);
    CHECK(store->answer(1, by_anna(request)).status().code() == ErrorCode::invalid_argument);
  });
}

TEST_CASE("a database of an earlier version keeps its verdicts, of which nobody is the holder, and they count") {
  for_each_database([](const std::string& database) {
    Hash object{};
    {
      const auto before = open_at(database);
      REQUIRE(before->answer(1, by_anna(AddVerdict{"suite", "mm", {'1'}})).is_ok());
      object = put(*before, contents(3, 1));
      REQUIRE(before->answer(1, by_anna(baseline_of("mm", object, {object}))).is_ok());
    }
    const auto connection = connect_to(database);
    const auto bytes_of = [&](const std::string& table) {
      return farm::only_number(farm::execute(*connection, "SELECT bytes FROM " + table).value()).value();
    };
    const std::uint64_t of_verdict = bytes_of("verdicts"), of_baseline = bytes_of("baselines");
    for (const char* statement :
         {"DROP INDEX verdicts_by_bytes", "ALTER TABLE verdicts DROP COLUMN bytes", "DROP INDEX baselines_by_bytes",
          "ALTER TABLE baselines DROP COLUMN bytes", "DROP INDEX verdicts_by_holder",
          "ALTER TABLE verdicts DROP COLUMN holder", "ALTER TABLE baselines DROP COLUMN holder",
          "DELETE FROM modules_version WHERE version > 2"})
      REQUIRE(farm::execute(*connection, statement).is_ok());
    const auto store = open_at(database);
    CHECK(bytes_of("verdicts") == of_verdict);
    CHECK(bytes_of("baselines") == of_baseline);
    REQUIRE(store->answer(1, by_anna(AddVerdict{"suite", "mm", {'2'}})).is_ok());
    CHECK(store->answer(1, ListVerdicts{"suite", "mm", 0}).value().verdicts.size() == 2);
    CHECK(count_of(*connection, "verdicts WHERE holder = ''") == 1);
    CHECK(count_of(*connection, "verdicts WHERE holder = 'anna'") == 1);
  });
}

TEST_CASE("a baseline and a verdict say who stored them, by the key with which he did") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database);
    const Hash object = put(*store, contents(3, 1));
    SetBaseline forged = baseline_of("mm", object);
    forged.entry.holder = "bob";
    REQUIRE(store->answer(1, by_anna(forged)).is_ok());
    const auto holder = [&] { return store->answer(1, ListBaseline{"suite", "main", 0}).value().entries.at(0).holder; };
    CHECK(holder() == "anna");
    REQUIRE(store->answer(2, ModuleStore::SetBaselineOf{forged, "eve"}).is_ok());
    CHECK(holder() == "eve");
    REQUIRE(store->answer(1, by_anna(AddVerdict{"suite", "mm", {'1'}})).is_ok());
    CHECK(store->answer(1, ListVerdicts{"suite", "mm", 0}).value().verdicts.at(0).holder == "anna");
    // Entries of a database that did not note it have no holder.
    const auto connection = connect_to(database);
    for (const char* statement :
         {"DROP INDEX verdicts_by_bytes", "ALTER TABLE verdicts DROP COLUMN bytes", "DROP INDEX baselines_by_bytes",
          "ALTER TABLE baselines DROP COLUMN bytes", "ALTER TABLE baselines DROP COLUMN holder",
          "DELETE FROM modules_version WHERE version > 3"})
      REQUIRE(farm::execute(*connection, statement).is_ok());
    CHECK(open_at(database)->answer(1, ListBaseline{"suite", "main", 0}).value().entries.at(0).holder.empty());
  });
}

TEST_CASE("cases of a baseline are deleted for all targets, and the others stay") {
  for_each_database([](const std::string& database) {
    const auto store = open_at(database);
    const Hash object = put(*store, contents(3, 1));
    for (const char* name : {"mm", "pool", "fft"})
      REQUIRE(store->answer(1, by_anna(baseline_of(name, object))).is_ok());
    SetBaseline other_target = baseline_of("mm", object);
    other_target.entry.target = "aarch64";
    REQUIRE(store->answer(1, by_anna(other_target)).is_ok());
    CHECK(store->answer(1, DeleteCases{"other", "main", {"mm"}}).value().cases == 0);
    CHECK(store->answer(1, DeleteCases{"suite", "main", {"mm", "none", "fft"}}).value().cases == 2);
    const auto left = store->answer(1, ListBaseline{"suite", "main", 0}).value().entries;
    REQUIRE(left.size() == 1);
    CHECK(left[0].name == "pool");
    CHECK(count_of(*connect_to(database), "baseline_objects") == 1);
  });
}

TEST_CASE("a later version of the database is refused") {
  for_each_database([](const std::string& database) {
    open_at(database);
    REQUIRE(farm::execute(*connect_to(database), "INSERT INTO modules_version VALUES (99)").is_ok());
    CHECK(ModuleStore::open(connect_to(database), 1).status().code() == ErrorCode::version_mismatch);
  });
}

}  // namespace
}  // namespace ferry::test
