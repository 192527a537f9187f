#include "device-runtime/handlers/module_store.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace ferry::device {
namespace {

namespace fs = std::filesystem;

struct Fixture {
  fs::path folder = [] {
    char pattern[] = "/tmp/ferry-test-store-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    return fs::path(pattern);
  }();
  ModuleStore store{folder.string()};
  std::vector<std::uint8_t> bytes = {1, 2, 3, 4, 5};
  Hash hash = blake2b(bytes);
  ~Fixture() { fs::remove_all(folder); }
  fs::path file() const { return folder / (to_hex(hash) + ".ferry"); }
};

TEST_CASE_FIXTURE(Fixture, "what was put is found, and nothing else") {
  CHECK_FALSE(store.find(hash));
  REQUIRE(store.put(hash, bytes).is_ok());
  CHECK(store.find(hash) == bytes);
  CHECK_FALSE(store.find(Hash{}));
  REQUIRE(store.put(hash, bytes).is_ok());
  CHECK(std::distance(fs::directory_iterator(folder), {}) == 1);
  CHECK((fs::status(file()).permissions() & fs::perms::all) == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE_FIXTURE(Fixture, "a damaged, truncated or foreign file is not believed and makes room for a good one") {
  REQUIRE(store.put(hash, bytes).is_ok());
  SUBCASE("damaged") { std::ofstream(file(), std::ios::binary) << "abcde"; }
  SUBCASE("truncated") { fs::resize_file(file(), 2); }
  CHECK_FALSE(store.find(hash));
  REQUIRE(store.put(hash, bytes).is_ok());
  CHECK(store.find(hash) == bytes);
}

TEST_CASE_FIXTURE(Fixture, "a link is not followed") {
  const fs::path outside = folder / "outside";
  std::ofstream(outside, std::ios::binary).write("\1\2\3\4\5", 5);
  fs::create_symlink(outside, file());
  CHECK_FALSE(store.find(hash));
}

TEST_CASE("a folder that is not there is said to be the reason") {
  const std::vector<std::uint8_t> bytes = {1};
  const Status status = ModuleStore("/proc/nowhere").put(blake2b(bytes), bytes);
  CHECK(status.code() == ErrorCode::resource_exhausted);
  CHECK(status.message().find("cannot keep the module in /proc/nowhere: ") == 0);
}

}  // namespace
}  // namespace ferry::device
