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

// Holders with numbers share the folder.
struct HolderFixture : Fixture {
  CacheFolder of(std::uint64_t holder) const {
    CacheFolder cache = files;
    cache.set_holder(holder);
    return cache;
  }
  // Stores 1000 bytes, as if that had been so many minutes ago.
  Hash store(std::uint64_t holder, std::uint8_t content, int minutes_ago) {
    const CacheFolder cache = of(holder);
    const std::vector<std::uint8_t> stored(1000, content);
    cache.make_room(stored.size());
    auto file = NewCacheFile::create(cache);
    REQUIRE(file.is_ok());
    REQUIRE(file.value().add(stored).is_ok());
    REQUIRE(file.value().publish(blake2b(stored), 0600).is_ok());
    fs::last_write_time(cache.path_of(blake2b(stored)),
                        fs::file_time_type::clock::now() - std::chrono::minutes(minutes_ago));
    return blake2b(stored);
  }
  bool has(std::uint64_t holder, const Hash& hash) const { return fs::exists(of(holder).path_of(hash)); }
  std::size_t count_of(std::uint64_t holder, std::size_t contents) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < contents; ++i)
      count += has(holder, blake2b(std::vector<std::uint8_t>(1000, static_cast<std::uint8_t>(i))));
    return count;
  }
};

constexpr std::uint64_t kAnna = 0x00000000000000abu, kBerta = 0xffeeddccbbaa9988u;

TEST_CASE_FIXTURE(HolderFixture, "nobody finds what another holder has stored") {
  const Hash hash = store(kAnna, 1, 0);
  std::uint64_t size = 0;
  CHECK(of(kAnna).open_file(hash, size).number() >= 0);
  CHECK(size == 1000);
  for (const std::uint64_t other : {kBerta, std::uint64_t{0}}) CHECK(of(other).open_file(hash, size).number() < 0);
  store(kBerta, 1, 0);
  store(0, 1, 0);
  CHECK(count() == 3);
}

TEST_CASE_FIXTURE(HolderFixture, "who keeps most loses first, so that nobody displaces what is within an equal share") {
  for (std::uint8_t i = 0; i < 4; ++i) store(kAnna, i, 60 - i);
  for (std::uint8_t i = 0; i < 30; ++i) store(kBerta, i, 30);
  CHECK(count_of(kAnna, 4) == 4);
  CHECK(count_of(kBerta, 30) <= 6);
  CHECK(has(kBerta, blake2b(std::vector<std::uint8_t>(1000, 29))));
  // Now hers are the most.
  for (std::uint8_t i = 0; i < 30; ++i) store(kAnna, i, 30);
  CHECK(count_of(kBerta, 30) >= 4);
  CHECK(count_of(kAnna, 30) >= 4);
}

TEST_CASE_FIXTURE(HolderFixture, "what nobody has used for a week is deleted first, whoever keeps most") {
  const Hash old = store(kAnna, 0, 8 * 24 * 60);
  store(0, 1, 6 * 24 * 60);
  for (std::uint8_t i = 0; i < 8; ++i) store(kBerta, i, 30);
  CHECK(has(kAnna, old));
  store(kBerta, 8, 30);
  CHECK_FALSE(has(kAnna, old));
  CHECK(count_of(0, 2) == 1);
  CHECK(count_of(kBerta, 9) == 7);
}

TEST_CASE_FIXTURE(Fixture, "room for a large file is not made of files that others write") {
  auto other = NewCacheFile::create(files);
  REQUIRE(other.is_ok());
  REQUIRE(other.value().add(bytes).is_ok());
  files.make_room(10'000);
  CHECK(count() == 1);
  CHECK(other.value().publish(blake2b(bytes), 0400).is_ok());
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
