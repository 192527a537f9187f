#include "device-runtime/session/state/module_store.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/unit/device-runtime/support/served_files.h"

namespace ferry::device {
namespace {

namespace fs = std::filesystem;

struct Fixture {
  fs::path folder = [] {
    char pattern[] = "/tmp/ferry-test-store-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    return fs::path(pattern);
  }();
  test::ServedFiles files{folder.string(), ""};
  ModuleStore store{files.broker()};
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
  CHECK((fs::status(file()).permissions() & fs::perms::all) == fs::perms::owner_read);
}

TEST_CASE_FIXTURE(Fixture, "a damaged or truncated file is not believed, and a good one replaces it") {
  REQUIRE(store.put(hash, bytes).is_ok());
  fs::permissions(file(), fs::perms::owner_all);
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

TEST_CASE_FIXTURE(Fixture, "beyond the limit the modules go first that were not used for longest") {
  test::ServedFiles few(folder.string(), "", 4000);
  const ModuleStore small(few.broker());
  std::vector<Hash> hashes;
  const auto put = [&](std::uint8_t number) {
    const std::vector<std::uint8_t> content(1000, number);
    hashes.push_back(blake2b(content));
    REQUIRE(small.put(hashes.back(), content).is_ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(15));  // file times have a coarse granularity
  };
  for (std::uint8_t i = 0; i < 4; ++i) put(i);
  CHECK(small.find(hashes[0]));
  std::this_thread::sleep_for(std::chrono::milliseconds(15));
  put(4);
  CHECK(small.find(hashes[0]));
  CHECK_FALSE(small.find(hashes[1]));
  CHECK(small.find(hashes[4]));
  for (std::uint8_t i = 10; i < 40; ++i) put(i);
  CHECK(small.find(hashes.back()));
  std::uint64_t total = 0;
  for (const auto& entry : fs::directory_iterator(folder)) total += entry.file_size();
  CHECK(total <= 4000);
  REQUIRE(small.put(blake2b(std::vector<std::uint8_t>(5000, 1)), std::vector<std::uint8_t>(5000, 1)).is_ok());
  CHECK(small.find(hashes.back()));
}

TEST_CASE("without a folder, or without a supervisor, nothing is kept, and that is no failure") {
  const std::vector<std::uint8_t> bytes = {1};
  test::ServedFiles without("", "");
  const FileBroker nobody;
  for (const FileBroker* broker : std::initializer_list<const FileBroker*>{&without.broker(), &nobody}) {
    const ModuleStore none(*broker);
    CHECK(none.put(blake2b(bytes), bytes).is_ok());
    CHECK_FALSE(none.find(blake2b(bytes)));
  }
}

TEST_CASE("the reason why a module cannot be kept is given") {
  const std::vector<std::uint8_t> bytes(1000, 1);
  test::ServedFiles files("/proc/nowhere", "");
  const Status status = ModuleStore(files.broker()).put(blake2b(bytes), bytes);
  CHECK(status.code() == ErrorCode::resource_exhausted);
  CHECK(status.message() == "cannot keep the module in here: No such file or directory");
}

}  // namespace
}  // namespace ferry::device
