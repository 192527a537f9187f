// Connections that say nothing, damaged databases and full disks.
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/descriptor.h"
#include "farm/client/board_lease.h"
#include "farm/store/sqlite_connection.h"
#include "tests/faults/farm/fault_farm.h"
#include "tests/faults/farm/small_disk.h"

namespace ferry::test {
namespace {

Descriptor connect_silently(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  (void)::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return socket;
}

Status lease(const RealFarm& farm, const secure::Key& key) {
  farm::FarmAccess access = farm.access();
  access.key = key;
  farm::LeaseOptions wanted{{"b0"}};
  wanted.wait = std::chrono::seconds(10);
  return farm::BoardLease::request(access, wanted).status();
}

TEST_CASE("10,000 connections that say nothing keep no client with a key out") {
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  const std::size_t count = std::min<std::size_t>(10'000, limit.rlim_cur - 200);
  RealFarm farm(farm_of(1));
  farm.start_board(0);
  farm.wait_for_boards(1);
  const std::uint16_t port = farm.access().trackers[0].port;
  std::vector<Descriptor> silent;
  for (std::size_t i = 0; i < count; ++i) {
    silent.push_back(connect_silently(port));
    if (i % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const auto begin = Clock::now();
  const Status leased = lease(farm, farm.access().key);
  CHECK_MESSAGE(leased.is_ok(), leased.message());
  CHECK(seconds_since(begin) < 4);
  CHECK(farm.tracker().peak_megabytes() < 100);
}

// An index that the tracker does not need.
void overwrite_index(const std::string& database) {
  std::int64_t page = 0;
  {
    const auto connection = std::move(farm::SqliteConnection::open(database, farm::Access::write).value());
    const auto found =
        connection->execute("SELECT rootpage FROM sqlite_schema WHERE name = 'ended_requests_by_holder'", {}).value();
    page = std::get<std::int64_t>(found.rows.at(0).at(0));
  }
  std::fstream file(database, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp((page - 1) * 4096);
  file << std::string(64, '\x5a');
}

TEST_CASE("a tracker whose database is damaged starts, says so and gives nobody a board") {
  RealFarm farm(farm_of(1));
  farm.kill_tracker();
  overwrite_index(farm.database());
  farm.start_tracker();
  const std::string why = farm.tracker().wait_for("read-only: ");
  CHECK(why.find("damaged") != std::string::npos);
  CHECK(!lease(farm, farm.access().key).is_ok());
}

TEST_CASE("a full disk holds leases back, and they go on once there is room") {
  const SmallDisk disk(16);
  if (!disk.is_mounted) {
    MESSAGE("skipped: this process may not mount a disk");
    return;
  }
  RealFarmOptions options = farm_of(2);
  options.folder = disk.folder.path();
  RealFarm farm(options);
  farm.start_board(0);
  farm.start_board(1);
  farm.wait_for_boards(2);
  FaultClient holder(farm, "holder", "b0", 8000, FaultClient::Leases::one);
  holder.wait_for_call();
  disk.fill();
  // What has room in the pages that are there already may still be written.
  FaultClient next(farm, "next", "b1", 100, FaultClient::Leases::many);
  farm.tracker().wait_for("the database: ");
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const std::size_t before = next.leases().size();
  disk.make_room();
  CHECK(holder.process().wait() == 0);
  CHECK(holder.leases().back().failure == "");
  std::this_thread::sleep_for(std::chrono::seconds(2));
  next.process().signal(SIGTERM);
  INFO(farm.tracker().output());
  CHECK(next.process().wait() == 0);
  CHECK(next.leases().size() > before + 1);
  CHECK(next.leases().back().failure == "");
}

}  // namespace
}  // namespace ferry::test
