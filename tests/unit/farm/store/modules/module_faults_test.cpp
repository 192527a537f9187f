// A database that fails while objects arrive.
#include "tests/unit/farm/store/modules/failing_connection.h"
#include "tests/unit/farm/store/modules/stored_objects.h"

namespace ferry::test {
namespace {

std::unique_ptr<ModuleStore> open_with(DatabaseFaults& faults, const std::string& database) {
  auto opened = ModuleStore::open(std::make_unique<FailingConnection>(connect_to(database), faults),
                                  farm::wire::kDefaultModuleQuota);
  REQUIRE_MESSAGE(opened.is_ok(), opened.status().message());
  return std::move(opened.value());
}

// Sends the first two pieces and a half, of which two are written.
void begin_sending(ModuleStore& store, ModuleStore::Sender sender, const Bytes& bytes) {
  for (std::size_t offset = 0; offset < 2 * kPieceBytes + kMaxPieceSent; offset += kMaxPieceSent) {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto taken = store.answer(
        sender,
        PutObject{blake2b(bytes), bytes.size(), offset, {begin, begin + static_cast<std::ptrdiff_t>(kMaxPieceSent)}});
    REQUIRE_MESSAGE(taken.is_ok(), taken.status().message());
  }
}

TEST_CASE("pieces that could not be deleted are deleted later, also while another object arrives") {
  for_each_database([](const std::string& database) {
    DatabaseFaults faults;
    const auto store = open_with(faults, database);
    const auto connection = connect_to(database);
    const Bytes bytes = contents(3 * kPieceBytes, 1), other = contents(3 * kPieceBytes, 2);
    begin_sending(*store, 1, bytes);
    begin_sending(*store, 2, bytes);
    faults.failing_statement = "DELETE FROM pieces";
    store->forget(1);
    store->forget(2);
    store->delete_dropped();
    CHECK(count_of(*connection, "pieces") == 4);
    begin_sending(*store, 3, other);
    CHECK(count_of(*connection, "pieces") == 6);
    faults.failing_statement.clear();
    store->delete_dropped();
    CHECK(count_of(*connection, "pieces") == 2);
    // The one that arrives is complete.
    CHECK(put(*store, 3, blake2b(other), other).is_ok());
    CHECK(get(*store, blake2b(other)) == other);
    CHECK(count_of(*connection, "pieces") == 3);
  });
}

TEST_CASE("where the disk has no more room than leases need, what is stored can be read, deleted and used") {
  for_each_database([](const std::string& database) {
    DatabaseFaults faults;
    const auto store = open_with(faults, database);
    const Hash object = put(*store, contents(5, 1));
    REQUIRE(store->answer(1, by_anna(baseline_of("mm", object))).is_ok());
    faults.room = 1000;
    const Bytes other = contents(7, 2);
    const Status full = put(*store, 1, blake2b(other), other);
    CHECK(full.code() == ErrorCode::resource_exhausted);
    CHECK(store->answer(1, by_anna(baseline_of("pool", object))).status().code() == ErrorCode::resource_exhausted);
    CHECK(store->answer(1, by_anna(AddVerdict{"suite", "mm", {'1'}})).status().code() == ErrorCode::resource_exhausted);
    CHECK(has(*store, object));
    CHECK(get(*store, object) == contents(5, 1));
    CHECK(store->answer(1, ListBaseline{"suite", "main", 0}).value().entries.size() == 1);
    CHECK(store->answer(1, TrimObjects{}).is_ok());
    CHECK(store->answer(1, DeleteBaseline{"suite", "main"}).value().cases == 1);
    faults.room = std::uint64_t{1} << 20;
    CHECK(put(*store, 1, blake2b(other), other).is_ok());
  });
}

TEST_CASE("an object whose commit was carried out although that was not known is kept with its pieces") {
  for_each_database([](const std::string& database) {
    DatabaseFaults faults;
    const auto store = open_with(faults, database);
    const auto connection = connect_to(database);
    int kept = 0, lost = 0;
    for (std::uint32_t commit = 1;; ++commit) {
      REQUIRE(commit < 20);
      CAPTURE(commit);
      const Bytes bytes = contents(kPieceBytes + 5, commit);
      const std::int64_t pieces = count_of(*connection, "pieces");
      faults.lost_commit = static_cast<int>(commit);
      const Status sent = put(*store, 1, blake2b(bytes), bytes);
      store->forget(1);
      store->delete_dropped();
      const bool is_complete = std::exchange(faults.lost_commit, 0) > 0;
      CHECK(sent.is_ok() == is_complete);
      const bool is_stored = store->answer(1, ModuleStore::FindUnused{{{blake2b(bytes)}}}).value().is_stored.at(0) == 1;
      ++(is_stored ? kept : lost);
      CHECK(count_of(*connection, "pieces") == pieces + (is_stored ? 2 : 0));
      if (is_stored) CHECK(get(*store, blake2b(bytes)) == bytes);
      if (is_complete) break;
    }
    CHECK(kept == 2);  // the commit of the object itself, and no lost one
    CHECK(lost >= 2);
  });
}

}  // namespace
}  // namespace ferry::test
