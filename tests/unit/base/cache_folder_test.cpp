#include "base/cache_folder.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <vector>

namespace ferry {
namespace {

namespace fs = std::filesystem;

struct Fixture {
  fs::path folder = [] {
    char pattern[] = "/tmp/ferry-test-cache-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    return fs::path(pattern);
  }();
  CacheFolder files{folder.string(), "blob", ".blob", 10'000};
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(1000, 7);
  ~Fixture() { fs::remove_all(folder); }
  std::ptrdiff_t count() const { return std::distance(fs::directory_iterator(folder), {}); }
};

TEST_CASE_FIXTURE(Fixture, "a file appears when it is complete, and cannot be written to afterwards") {
  std::uint64_t size = 1;
  const Hash hash = blake2b(bytes);
  {
    auto file = NewCacheFile::create(files);
    REQUIRE(file.is_ok());
    REQUIRE(file.value().reserve(bytes.size()).is_ok());
    REQUIRE(file.value().add(bytes).is_ok());
    CHECK(files.open_file(hash, size).number() < 0);
    CHECK(size == 0);
    const auto reader = file.value().publish(hash, 0400);
    REQUIRE(reader.is_ok());
    CHECK(write(reader.value().number(), "x", 1) < 0);
  }
  CHECK(files.open_file(hash, size).number() >= 0);
  CHECK(size == 1000);
  CHECK(count() == 1);
}

TEST_CASE_FIXTURE(Fixture, "a pipe in the place of a file is no file, and nobody waits for its writer") {
  std::uint64_t size = 1;
  REQUIRE(mkfifo(files.path_of(Hash{}).c_str(), 0600) == 0);
  CHECK(files.open_file(Hash{}, size).number() < 0);
  CHECK(size == 0);
}

TEST_CASE_FIXTURE(Fixture, "a file that is not published is deleted") {
  {
    auto file = NewCacheFile::create(files);
    REQUIRE(file.is_ok());
    const NewCacheFile moved = std::move(file.value());
    CHECK(count() == 1);
  }
  CHECK(count() == 0);
}

TEST_CASE_FIXTURE(Fixture, "what a killed session left incomplete is deleted, and what another writes is not") {
  const auto age = [](const fs::path& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(2));
  };
  std::ofstream(folder / "part.left") << "left";
  std::ofstream(folder / "part.new") << "new";
  auto other = NewCacheFile::create(files);
  REQUIRE(other.is_ok());
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename() != "part.new") age(entry.path());
  files.make_room(1);
  CHECK_FALSE(fs::exists(folder / "part.left"));
  CHECK(fs::exists(folder / "part.new"));
  CHECK(count() == 2);
  CHECK(other.value().publish(Hash{}, 0400).is_ok());
}

TEST_CASE_FIXTURE(Fixture, "a disk that is full, and a folder that is gone, are said to be the reason") {
  auto file = NewCacheFile::create(files);
  REQUIRE(file.is_ok());
  // Simulates a full disk: no file can grow beyond this size.
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{2000, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const Status reserved = file.value().reserve(10'000);
  const Status first = file.value().add(bytes), second = file.value().add(bytes), third = file.value().add(bytes);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  CHECK(reserved.code() == ErrorCode::resource_exhausted);
  CHECK(first.is_ok());
  CHECK(second.is_ok());
  CHECK(third.code() == ErrorCode::resource_exhausted);
  CHECK(third.message() == "cannot keep the blob in " + folder.string() + ": File too large");
  const CacheFolder none("/proc/nowhere", "blob", ".blob", 10);
  CHECK(NewCacheFile::create(none).status().message().find("cannot keep the blob in /proc/nowhere: ") == 0);
}

}  // namespace
}  // namespace ferry
