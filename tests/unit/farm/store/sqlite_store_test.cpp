// What can go wrong with a file of SQLite.
#include "farm/store/sqlite_store.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "farm/store/schema.h"
#include "farm/store/sqlite_connection.h"
#include "tests/support/farm/describe.h"
#include "tests/support/farm/random_records.h"
#include "tests/support/farm/record_tables.h"
#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {
namespace {

using Commits = std::vector<farm::Persist>;

std::unique_ptr<farm::Store> open_store(const std::string& path) {
  auto opened = farm::open_sqlite_store(path);
  INFO(opened.status().message());
  REQUIRE(opened.is_ok());
  CHECK(opened.value().read_only_reason.empty());
  return std::move(opened.value().store);
}

std::string contents(farm::Store& store) { return describe(store.load().value()); }

// Another process's connection.
std::unique_ptr<farm::SqliteConnection> connect_to(const std::string& path) {
  return std::move(farm::SqliteConnection::open(path, farm::Access::write).value());
}

std::int64_t number_in(farm::SqlConnection& connection, const std::string& query) {
  return std::get<std::int64_t>(connection.execute(query, {}).value().rows.at(0).at(0));
}

// Fills a database and returns what it holds.
std::string fill(const std::string& path, std::uint64_t count = 500) {
  const auto store = open_store(path);
  const farm::TrackerTerm term = store->take_term().value();
  REQUIRE(store->apply(RandomRecords(5).commits(term, count)).is_ok());
  return contents(*store);
}

void overwrite(const std::string& path, std::streamoff at, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(at);
  file << bytes;
}

// Lets no file of this process grow beyond the limit.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  sighandler_t handler_;
};

TEST_CASE("a database is readable by its owner alone") {
  const TemporaryFolder folder;
  const auto store = open_store(folder.file("farm.db"));
  REQUIRE(store->take_term().is_ok());
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    struct stat status{};
    REQUIRE(stat(entry.path().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
  }
}

TEST_CASE("a database that cannot be opened is named") {
  const auto opened = farm::open_sqlite_store("/nowhere/farm.db");
  CHECK(opened.status().code() == ErrorCode::invalid_argument);
  CHECK(opened.status().message().find("/nowhere/farm.db") != std::string::npos);
}

TEST_CASE("a name that means something to SQLite is the name of a file") {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const char* name : {":memory:", "file:farm.db?mode=memory"}) {
    const std::string contents_before = fill(name, 20);
    CHECK(contents(*open_store(name)) == contents_before);
    CHECK(std::filesystem::exists(folder.file(name)));
  }
  std::filesystem::current_path(before);
}

TEST_CASE("a database of a later version is refused, and both versions are named") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.db");
  fill(path);
  REQUIRE(connect_to(path)->execute("INSERT INTO schema_version VALUES (7)", {}).is_ok());
  const auto opened = farm::open_sqlite_store(path);
  CHECK(opened.status().code() == ErrorCode::version_mismatch);
}

TEST_CASE("a migration runs the steps that a database lacks, all or none") {
  const TemporaryFolder folder;
  const auto connection = connect_to(folder.file("farm.db"));
  constexpr const char* kFirst[] = {"CREATE TABLE a (x BIGINT)", "INSERT INTO a VALUES (1)"};
  constexpr const char* kSecond[] = {"INSERT INTO a VALUES (2)"};
  constexpr const char* kBroken[] = {"INSERT INTO a VALUES (3)", "INSERT INTO b VALUES (3)"};
  const std::vector<farm::Migration> steps = {kFirst, kSecond, kBroken};
  const auto sum = [&] { return number_in(*connection, "SELECT SUM(x) FROM a"); };
  CHECK(farm::migrate(*connection, std::span(steps).first(1)).is_ok());
  CHECK(sum() == 1);
  CHECK(farm::migrate(*connection, std::span(steps).first(2)).is_ok());
  CHECK(farm::migrate(*connection, std::span(steps).first(2)).is_ok());
  CHECK(sum() == 3);
  CHECK(!farm::migrate(*connection, steps).is_ok());
  CHECK(sum() == 3);
  CHECK(farm::schema_version(*connection).value() == 2);
}

TEST_CASE("a database of version 1 keeps its boards and credentials when it becomes a later one") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.db");
  {
    const auto old = connect_to(path);
    REQUIRE(farm::migrate(*old, farm::migrations().first(1)).is_ok());
    const std::string salt = std::string(32, 'a') + std::string(32, 'b');
    for (const std::string& statement :
         {std::string(
              "INSERT INTO boards VALUES (7, '{\"name\":\"pi\",\"model\":\"\",\"arch\":\"\",\"cpu\":\"\","
              "\"memory_bytes\":1,\"cores\":1,\"features\":[],\"devices\":[],\"tags\":{}}', 'm', 0, 0, 0, NULL, 3)"),
          "INSERT INTO credentials VALUES (2, 'pi', '" + salt + "', 'pi', 2, NULL, NULL)"})
      REQUIRE(old->execute(statement, {}).is_ok());
  }
  const auto store = open_store(path);
  const farm::Snapshot snapshot = store->load().value();
  CHECK(snapshot.boards.at(0).description.name == "pi");
  CHECK(snapshot.boards.at(0).enrolled_tags.empty());
  farm::KeySalt salt;
  salt.fill(0xaa);
  CHECK(store->credentials().value().at(0).salt == salt);
  CHECK(store->add_session({}).is_ok());
  CHECK(farm::schema_version(*connect_to(path)).value() == farm::migrations().size());
}

TEST_CASE("a database of version 2 keeps its history and its leases when it becomes one of version 3") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.db");
  {
    const auto old = connect_to(path);
    REQUIRE(farm::migrate(*old, farm::migrations().first(2)).is_ok());
    for (const std::string& statement :
         {std::string(
              "INSERT INTO boards VALUES (7, '{\"name\":\"pi\",\"model\":\"\",\"arch\":\"\",\"cpu\":\"\","
              "\"memory_bytes\":1,\"cores\":1,\"features\":[],\"devices\":[],\"tags\":{}}', '', 0, 0, 0, NULL, 3, "
              "'{}')"),
          std::string("INSERT INTO requests VALUES (1, 'ann', '[[\"rpi4\"]]', 5, 60000, 60000, 1, 0, 1000)"),
          std::string("INSERT INTO leases VALUES (1, 2000, 62000, 0)"),
          std::string("INSERT INTO lease_parts VALUES (1, 0, 7, 3)"),
          std::string("INSERT INTO history VALUES (-9, 'ben', '[[\"rpi4\"]]', 5, 60000, 60000, 0, 0, 100, 200, 300, 1, "
                      "'')"),
          std::string("INSERT INTO history VALUES (8, 'cem', '[[\"rpi4\"]]', 5, 60000, 60000, 0, 0, 100, NULL, 250, 2, "
                      "'x')"),
          std::string("INSERT INTO history_parts VALUES (-9, 0, 7, 2, 300)")}) {
      const auto done = old->execute(statement, {});
      REQUIRE_MESSAGE(done.is_ok(), done.status().message());
    }
  }
  const auto store = open_store(path);
  const farm::Snapshot snapshot = store->load().value();
  REQUIRE(snapshot.leases.size() == 1);
  CHECK(snapshot.leases[0].set_at == snapshot.leases[0].start);
  const auto ended = store->ended_leases({}).value();
  REQUIRE(ended.size() == 2);
  CHECK(ended[0].request.holder == "ben");
  REQUIRE(ended[0].parts.size() == 1);
  CHECK(ended[0].parts[0].epoch == 2);
  CHECK(ended[1].request.holder == "cem");
  CHECK(ended[1].text == "x");
  // What is added now comes after.
  const farm::TrackerTerm term = store->take_term().value();
  const farm::EndRecord end{farm::LeaseId{1}, farm::Time(std::chrono::hours(1)), farm::EndReason::released, ""};
  REQUIRE(store->apply(std::vector{farm::Persist{term, 1, {end}}}).is_ok());
  CHECK(store->ended_leases({}).value().at(0).request.holder == "ann");
  CHECK(number_in(*connect_to(path), "SELECT MAX(number) FROM ended_requests") == 3);
}

TEST_CASE("a credential whose role or salt is damaged is not used") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.db");
  const auto store = open_store(path);
  REQUIRE(store->add_credential({farm::CredentialKind::client, "ann", {}, "ann"}).is_ok());
  for (const char* damage : {"role = 4", "role = 3, salt = '00'", "salt = '000000000000000000000000000000zz'",
                             "salt = '00000000000000000000000000000000', kind = 9"}) {
    CAPTURE(damage);
    REQUIRE(connect_to(path)->execute(std::string("UPDATE credentials SET ") + damage, {}).is_ok());
    CHECK(store->credentials().status().code() == ErrorCode::device_error);
  }
}

TEST_CASE("a damaged database is opened read-only, stays as it is, and says why") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.db");
  const std::string before = fill(path);
  const auto size = std::filesystem::file_size(path);
  const std::int64_t page =
      number_in(*connect_to(path), "SELECT rootpage FROM sqlite_schema WHERE name = 'ended_requests_by_holder'");
  overwrite(path, (page - 1) * 4096, std::string(64, '\x5a'));

  auto opened = farm::open_sqlite_store(path);
  INFO(opened.status().message());
  REQUIRE(opened.is_ok());
  const std::string& reason = opened.value().read_only_reason;
  CHECK(reason.find("the database " + path + " is damaged and therefore read-only: ") == 0);
  farm::Store& store = *opened.value().store;
  CHECK(contents(store) == before);
  for (const Status& refused : {store.take_term().status(), store.add_audit_entry({}), store.add_credential({}),
                                store.apply(Commits{{farm::TrackerTerm{1}, 501, {}}}).status()}) {
    CHECK(refused.code() == ErrorCode::device_error);
    CHECK(refused.message() == reason);
  }
  opened = Status(ErrorCode::internal, "closed");
  CHECK(std::filesystem::file_size(path) == size);
}

TEST_CASE("a file that is no database is refused and left alone") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.db");
  const std::string text(5000, 'x');
  std::ofstream(path) << text;
  const auto opened = farm::open_sqlite_store(path);
  CHECK(opened.status().code() == ErrorCode::device_error);
  CHECK(opened.status().message().find(path) != std::string::npos);
  std::ifstream file(path);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == text);
}

TEST_CASE("what does not fit on the disk can be committed again once there is room") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.db");
  auto store = open_store(path);
  const farm::TrackerTerm term = store->take_term().value();
  const Commits commits = RandomRecords(6).commits(term, 400);
  const std::span<const farm::Persist> all(commits);
  RecordTables tables;
  std::size_t done = 0, failures = 0;
  while (done < commits.size()) {
    const std::size_t count = std::min<std::size_t>(20, commits.size() - done);
    const auto group = all.subspan(done, count);
    {
      const FileSizeLimit limit(std::filesystem::file_size(path + "-wal") + 8192);
      const auto outcome = store->apply(group);
      if (!outcome.is_ok()) {
        ++failures;
        INFO(outcome.status().message());
        CHECK(outcome.status().code() == ErrorCode::resource_exhausted);
        CHECK(outcome.status().message().find("no room for the database " + path) == 0);
        CHECK(contents(*store) == describe(tables.snapshot()));
      }
    }
    REQUIRE(store->apply(group).is_ok());
    for (const farm::Persist& commit : group) tables.apply(commit.records);
    done += count;
  }
  CHECK(failures > 3);
  store.reset();
  CHECK(contents(*open_store(path)) == describe(tables.snapshot()));
}

TEST_CASE("a database that another process holds is reported as busy, and works once it is released") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.db");
  const auto store = open_store(path);
  const farm::TrackerTerm term = store->take_term().value();
  const Commits commit = {{term, 1, {}}};
  {
    const auto other = connect_to(path);
    REQUIRE(other->begin(farm::Access::write).is_ok());
    const auto outcome = store->apply(commit);
    CHECK(outcome.status().code() == ErrorCode::busy);
    CHECK(outcome.status().message().find("the database " + path + " is held by another process") == 0);
    CHECK(store->load().is_ok());
  }
  CHECK(store->apply(commit).is_ok());
}

TEST_CASE("a database that another process keeps for itself is not opened") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.db");
  fill(path, 10);
  const auto other = connect_to(path);
  REQUIRE(other->execute("PRAGMA locking_mode = EXCLUSIVE", {}).is_ok());
  REQUIRE(other->begin(farm::Access::write).is_ok());
  CHECK(farm::open_sqlite_store(path).status().code() == ErrorCode::busy);
}

TEST_CASE("a backup while the tracker commits has one state, and restores it") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.db"), copy = folder.file("backup.db");
  const Commits commits = RandomRecords(7).commits(farm::TrackerTerm{1}, 600);
  std::atomic<std::size_t> done = 0;
  Status failure;
  std::thread tracker([&] {
    const std::unique_ptr<farm::Store> store = std::move(farm::open_sqlite_store(path).value().store);
    static_cast<void>(store->take_term());
    for (const farm::Persist& commit : commits) {
      if (failure.is_ok()) failure = store->apply({&commit, 1}).status();
      ++done;
    }
  });
  while (done < 100) std::this_thread::yield();
  std::size_t backups = 0;
  for (; done < commits.size(); ++backups) {
    const std::size_t least = done;
    const Status copied = farm::back_up_sqlite(path, copy);
    CHECK_MESSAGE(copied.is_ok(), copied.message());
    const std::size_t most = done + 1;
    const std::string found = contents(*open_store(copy));
    RecordTables tables;
    bool is_state = false;
    for (std::size_t i = 0; i < std::min(most, commits.size()) && !is_state; ++i) {
      tables.apply(commits[i].records);
      is_state = i + 1 >= least && found == describe(tables.snapshot());
    }
    CHECK(is_state);
  }
  tracker.join();
  CHECK_MESSAGE(failure.is_ok(), failure.message());
  CHECK(backups > 0);
  CHECK(!std::filesystem::exists(copy + ".unfinished"));
}

TEST_CASE("a backup over a database that was not closed does not take its log") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.db"), copy = folder.file("backup.db");
  const std::string before = fill(path, 100);
  const auto unclosed = open_store(copy);
  REQUIRE(unclosed->apply(RandomRecords(8).commits(unclosed->take_term().value(), 50)).is_ok());
  CHECK(farm::back_up_sqlite(path, copy).is_ok());
  CHECK(contents(*open_store(copy)) == before);
}

TEST_CASE("a backup that does not fit leaves the one before") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.db"), copy = folder.file("backup.db");
  const std::string before = fill(path, 100);
  CHECK(farm::back_up_sqlite(path, copy).is_ok());
  const auto store = open_store(path);
  REQUIRE(store->apply(RandomRecords(8).commits(store->take_term().value(), 500)).is_ok());
  {
    const FileSizeLimit limit(8192);
    CHECK(farm::back_up_sqlite(path, copy).code() == ErrorCode::resource_exhausted);
  }
  CHECK(!std::filesystem::exists(copy + ".unfinished"));
  CHECK(contents(*open_store(copy)) == before);
}

}  // namespace
}  // namespace ferry::test
