// Faults while a farm receives a module.
#include <csignal>
#include <thread>

#include "farm/client/board_lease.h"
#include "farm/client/farm_client.h"
#include "farm/store/open_connection.h"
#include "host/gate/farm_store/farm_store.h"
#include "tests/faults/farm/fault_farm.h"
#include "tests/faults/farm/small_disk.h"

namespace ferry::test {
namespace {

namespace wire = farm::wire;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

Bytes contents(std::size_t count, std::uint32_t seed) {
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>((seed = seed * 1664525u + 1013904223u) >> 24);
  return bytes;
}

std::int64_t count_of(const RealFarm& farm, const std::string& table) {
  const auto connection = farm::open_module_connection(farm::module_database_of(farm.database()));
  if (!connection.is_ok()) return -1;
  const auto counted = farm::execute(*connection.value(), "SELECT COUNT(*) FROM " + table);
  return counted.is_ok() ? std::get<std::int64_t>(counted.value().rows.at(0).at(0)) : -1;
}

// Waits until the farm has written so many pieces.
void wait_for_pieces(const RealFarm& farm, std::int64_t count) {
  const auto begin = Clock::now();
  while (count_of(farm, "pieces") < count) {
    REQUIRE_MESSAGE(seconds_since(begin) < 20, farm.tracker().output());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// Sends an object but for its last byte, over a connection that stays.
void begin_sending(farm::FarmClient& connection, const Bytes& bytes) {
  const Hash object = blake2b(bytes);
  const std::size_t pieces = (bytes.size() - 1) / wire::kMaxPieceSent;
  const Status sent = connection.ask_each<wire::PutObject>(
      pieces,
      [&](std::size_t i) {
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(i * wire::kMaxPieceSent);
        return wire::PutObject{object,
                               bytes.size(),
                               i * wire::kMaxPieceSent,
                               {begin, begin + static_cast<std::ptrdiff_t>(wire::kMaxPieceSent)}};
      },
      [](std::size_t, const wire::ObjectTaken&) { return Status(); });
  REQUIRE_MESSAGE(sent.is_ok(), sent.message());
}

void check_killed_tracker(Database database) {
  RealFarm farm(farm_of(0, database));
  const auto store = gate::open_farm_store(farm.access());
  const Hash before = store->put(contents(kMegabyte, 1));
  // A client that does not come back has sent some pieces, and another one sends some.
  const Bytes bytes = contents(40 * kMegabyte + 5, 2);
  {
    farm::FarmClient connection(farm.access());
    begin_sending(connection, contents(3 * kMegabyte, 3));
    std::string failure;
    std::thread sender([&] {
      try {
        store->put(bytes);
      } catch (const Error& error) {
        failure = error.what();
      }
    });
    wait_for_pieces(farm, 4 + 12 + 20);
    farm.kill_tracker();
    // It has given up, or waits a moment for the tracker to come back.
    farm.start_tracker();
    farm.wait_until_scheduling();
    sender.join();
    INFO(failure);
    CHECK((failure.empty() || failure.find("the farm ") == 0));
  }
  CHECK(store->put(bytes) == blake2b(bytes));
  CHECK(store->get(blake2b(bytes)) == bytes);
  CHECK(store->get(before) == contents(kMegabyte, 1));
  CHECK(count_of(farm, "objects") == 2);
  CHECK(count_of(farm, "pieces") == 4 + 161);
}

TEST_CASE("an object that a tracker received when it was killed is sent again, and nothing is left of the first try") {
  SUBCASE("SQLite") { check_killed_tracker(Database::sqlite); }
  SUBCASE("PostgreSQL") { check_killed_tracker(Database::postgres); }
}

TEST_CASE("modules do not fill the disk that leases need") {
  const SmallDisk disk(80);
  if (!disk.is_mounted) {
    MESSAGE("skipped: this process may not mount a disk");
    return;
  }
  RealFarmOptions options = farm_of(1);
  options.folder = disk.folder.path();
  RealFarm farm(options);
  farm.start_board(0);
  farm.wait_for_boards(1);
  const auto leases = [&] {
    for (int i = 0; i < 20; ++i) {
      farm::LeaseOptions wanted{{"b0"}};
      wanted.wait = std::chrono::seconds(5);
      const auto lease = farm::BoardLease::request(farm.access(), wanted);
      REQUIRE_MESSAGE(lease.is_ok(), lease.status().message());
    }
  };
  const auto store = gate::open_farm_store(farm.access());
  const auto failure_of = [&](const std::function<void()>& use) -> std::string {
    try {
      use();
    } catch (const gate::StoreFailed& error) {
      return error.what();
    }
    return {};
  };
  const Hash kept = store->put(contents(2 * kMegabyte, 1));
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::string failure = failure_of([&] { store->put(contents(80 * kMegabyte, 2 + i)); });
    INFO(failure);
    CHECK(failure.find("expected room on the disk") != std::string::npos);
    INFO(farm.tracker().output());
    leases();
  }
  CHECK(count_of(farm, "objects") == 1);
  CHECK(count_of(farm, "pieces") == 8);
  // What the refused ones took is used again.
  CHECK(store->get(store->put(contents(3 * kMegabyte, 9))) == contents(3 * kMegabyte, 9));
  CHECK(store->get(kept) == contents(2 * kMegabyte, 1));
  // Something else fills the disk. Where the file of the modules has pages to spare, they may still suffice.
  disk.fill();
  const std::string full = failure_of([&] { store->put(contents(9 * kMegabyte, 10)); });
  INFO(full);
  CHECK((full.empty() || full.find("no room for the database") != std::string::npos));
  CHECK(store->get(kept) == contents(2 * kMegabyte, 1));
  disk.make_room();
  leases();
  CHECK(store->put(contents(kMegabyte, 11)) == blake2b(contents(kMegabyte, 11)));
  CHECK(farm.tracker().output().find("damaged") == std::string::npos);
}

}  // namespace
}  // namespace ferry::test
