// Where the farm's master key may be, and when it is made.
#include "farm/keys/master_key.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/farm/temporary_folder.h"

namespace ferry::test {
namespace {

using farm::IfMissing;
using farm::open_master_key;

TEST_CASE("a master key is made once, for its owner alone, and read from then on") {
  const TemporaryFolder folder;
  const std::string path = folder.file("secrets/farm.key"), database = folder.file("farm.db");
  const auto missing = open_master_key(path, database, IfMissing::refuse);
  CHECK(missing.status().code() == ErrorCode::not_found);
  CHECK(missing.status().message().find(path) != std::string::npos);
  CHECK(!std::filesystem::exists(path));
  const auto made = open_master_key(path, database, IfMissing::make);
  INFO(made.status().message());
  REQUIRE(made.is_ok());
  struct stat info{};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  for (const IfMissing if_missing : {IfMissing::make, IfMissing::refuse})
    CHECK(open_master_key(path, database, if_missing).value().id() == made.value().id());
  CHECK(open_master_key(folder.file("another.key"), "", IfMissing::make).value().id() != made.value().id());
}

TEST_CASE("trackers that start together make one master key, which all of them have") {
  for (int round = 0; round < 50; ++round) {
    const TemporaryFolder folder;
    std::atomic<int> waiting = 6;
    std::mutex mutex;
    std::set<secure::KeyId> keys;
    {
      std::vector<std::jthread> trackers;
      for (int i = 0; i < 6; ++i) {
        trackers.emplace_back([&] {
          for (--waiting; waiting > 0;) std::this_thread::yield();
          const auto key = open_master_key(folder.file("farm.key"), "", IfMissing::make);
          const std::lock_guard lock(mutex);
          CHECK_MESSAGE(key.is_ok(), key.status().message());
          if (key.is_ok()) keys.insert(key.value().id());
        });
      }
    }
    CHECK(keys.size() == 1);
  }
}

TEST_CASE("a master key that others may read, or a file without one, is refused and kept") {
  const TemporaryFolder folder;
  const std::string path = folder.file("farm.key");
  REQUIRE(open_master_key(path, "", IfMissing::make).is_ok());
  REQUIRE(chmod(path.c_str(), 0604) == 0);
  const auto shared = open_master_key(path, "", IfMissing::make);
  CHECK(shared.status().code() == ErrorCode::invalid_argument);
  CHECK(shared.status().message().find("others may read or change it (mode 604)") != std::string::npos);
  std::ofstream(path) << "ferry-key-1:1234\n";
  REQUIRE(chmod(path.c_str(), 0600) == 0);
  CHECK(open_master_key(path, "", IfMissing::make).status().code() == ErrorCode::invalid_argument);
  CHECK(std::filesystem::file_size(path) == 17);
}

TEST_CASE("the database's own files are no place for the master key, whatever leads to them") {
  const TemporaryFolder folder;
  const std::string database = folder.file("farm.db");
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    const auto refused = open_master_key(folder.path() + "/./farm.db" + suffix, database, IfMissing::make);
    CHECK(refused.status().code() == ErrorCode::invalid_argument);
    CHECK(refused.status().message().find("apart from its database") != std::string::npos);
  }
  std::ofstream(database) << "x";
  std::filesystem::create_symlink(database, folder.file("farm.key"));
  CHECK(!open_master_key(folder.file("farm.key"), database, IfMissing::make).is_ok());
  std::filesystem::create_hard_link(database, folder.file("hard.key"));
  CHECK(!open_master_key(folder.file("hard.key"), database, IfMissing::make).is_ok());
  CHECK(std::filesystem::file_size(database) == 1);
}

}  // namespace
}  // namespace ferry::test
