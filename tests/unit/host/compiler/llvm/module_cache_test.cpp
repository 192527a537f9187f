#include "host/compiler/llvm/module_cache.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "module/module_file.h"

using namespace ferry;

namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes module_of(std::size_t source_bytes, char letter = 'a') {
  ModuleFile module;
  module.manifest.devices = {{"cpu", "x86_64", {}}};
  module.source = std::string(source_bytes, letter);
  return write_module(module);
}

Hash key_of(unsigned number) {
  Hash key{};
  key[0] = static_cast<std::uint8_t>(number);
  key[1] = static_cast<std::uint8_t>(number >> 8);
  return key;
}

struct Fixture {
  fs::path root = [] {
    char pattern[] = "/tmp/ferry-test-modules-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    return fs::path(pattern);
  }();
  fs::path folder = root / "ferry" / "modules";
  ModuleCache cache{folder.string()};
  Bytes module = module_of(100);
  ~Fixture() { fs::remove_all(root); }

  fs::path file() const { return folder / (to_hex(key_of(1)) + ".ferry"); }
  std::ptrdiff_t count() const { return std::distance(fs::directory_iterator(folder), {}); }
  // Replaces the stored file by these bytes.
  void replace(const Bytes& bytes) const {
    std::ofstream(file(), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  Bytes contents() const {
    std::ifstream stream(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a stored module is found under its key alone, in a folder of the user's own") {
  CHECK_FALSE(cache.find(key_of(1)));
  CHECK_FALSE(fs::exists(folder));
  cache.store(key_of(1), module);
  CHECK(cache.find(key_of(1)) == module);
  CHECK_FALSE(cache.find(key_of(2)));
  struct stat status{};
  for (const fs::path& made : {folder, folder.parent_path()}) {
    REQUIRE(stat(made.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
  }
  REQUIRE(stat(file().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE_FIXTURE(Fixture, "a truncated, longer or altered file is ignored and replaced") {
  cache.store(key_of(1), module);
  const Bytes intact = contents();
  const auto check_replaced = [&](const Bytes& damaged) {
    replace(damaged);
    CHECK_FALSE(cache.find(key_of(1)));
    cache.store(key_of(1), module);
    CHECK(cache.find(key_of(1)) == module);
  };
  for (std::size_t length = 0; length < intact.size(); length += 13) {
    CAPTURE(length);
    check_replaced(Bytes(intact.begin(), intact.begin() + static_cast<std::ptrdiff_t>(length)));
  }
  Bytes longer = intact;
  longer.push_back(0);
  check_replaced(longer);
  for (std::size_t i = 0; i < intact.size(); ++i) {
    CAPTURE(i);
    Bytes altered = intact;
    altered[i] ^= 0x10;
    check_replaced(altered);
  }
}

TEST_CASE_FIXTURE(Fixture, "a module under the name of another key is ignored") {
  cache.store(key_of(2), module);
  fs::rename(folder / (to_hex(key_of(2)) + ".ferry"), file());
  CHECK_FALSE(cache.find(key_of(1)));
}

TEST_CASE_FIXTURE(Fixture, "what another user could have written is ignored") {
  cache.store(key_of(1), module);
  chmod(file().c_str(), 0620);
  CHECK_FALSE(cache.find(key_of(1)));
  cache.store(key_of(1), module);
  CHECK(cache.find(key_of(1)) == module);
  chmod(folder.c_str(), 0777);
  CHECK_FALSE(cache.find(key_of(1)));
  cache.store(key_of(3), module);
  chmod(folder.c_str(), 0700);
  CHECK(cache.find(key_of(1)) == module);
  CHECK_FALSE(cache.find(key_of(3)));
  if (geteuid() != 0) return;
  REQUIRE(chown(file().c_str(), 65534, 65534) == 0);
  CHECK_FALSE(cache.find(key_of(1)));
  cache.store(key_of(1), module);
  REQUIRE(chown(folder.c_str(), 65534, 65534) == 0);
  CHECK_FALSE(cache.find(key_of(1)));
}

TEST_CASE_FIXTURE(Fixture, "links, pipes and folders in the place of a file are ignored") {
  cache.store(key_of(1), module);
  fs::rename(file(), root / "elsewhere");
  fs::create_symlink(root / "elsewhere", file());
  CHECK_FALSE(cache.find(key_of(1)));
  fs::remove(file());
  REQUIRE(mkfifo(file().c_str(), 0600) == 0);
  CHECK_FALSE(cache.find(key_of(1)));
  fs::remove(file());
  fs::create_directory(file());
  CHECK_FALSE(cache.find(key_of(1)));
  cache.store(key_of(1), module);
  CHECK_FALSE(cache.find(key_of(1)));
  fs::remove_all(folder);
  fs::create_directory_symlink(root, folder);
  cache.store(key_of(1), module);
  CHECK_FALSE(cache.find(key_of(1)));
}

TEST_CASE_FIXTURE(Fixture, "a folder that cannot be made or written to keeps nothing, and is no failure") {
  std::ofstream(root / "file") << "x";
  const ModuleCache below_file((root / "file" / "ferry" / "modules").string());
  below_file.store(key_of(1), module);
  CHECK_FALSE(below_file.find(key_of(1)));
  const ModuleCache in_proc("/proc/ferry/modules");
  in_proc.store(key_of(1), module);
  CHECK_FALSE(in_proc.find(key_of(1)));
  // A user other than root may not write to a folder without permission to.
  const pid_t child = fork();
  if (child == 0) {
    fs::create_directories(folder);
    fs::permissions(root, fs::perms::all);
    if (geteuid() == 0 && (chown(folder.c_str(), 65534, 65534) != 0 || setuid(65534) != 0)) _exit(2);
    cache.store(key_of(1), module);
    const bool was_stored = cache.find(key_of(1)) == module;
    chmod(folder.c_str(), 0500);
    cache.store(key_of(2), module);
    _exit(was_stored && cache.find(key_of(1)) == module && !cache.find(key_of(2)) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE_FIXTURE(Fixture, "a full disk keeps nothing, and is no failure") {
  cache.store(key_of(1), module);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{200, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  cache.store(key_of(2), module);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  CHECK_FALSE(cache.find(key_of(2)));
  CHECK(cache.find(key_of(1)) == module);
  CHECK(count() == 1);
}

TEST_CASE_FIXTURE(Fixture, "the least recently used modules are deleted first, and one that is too large is not kept") {
  const ModuleCache small(folder.string(), 10'000);
  const Bytes large = module_of(2000);
  for (unsigned i = 0; i < 4; ++i) small.store(key_of(i), large);
  REQUIRE(count() == 4);
  for (unsigned i = 0; i < 4; ++i)
    fs::last_write_time(folder / (to_hex(key_of(i)) + ".ferry"),
                        fs::file_time_type::clock::now() - std::chrono::minutes(10 - i));
  CHECK(small.find(key_of(0)));
  small.store(key_of(4), large);
  CHECK(small.find(key_of(0)));
  CHECK_FALSE(small.find(key_of(1)));
  CHECK(small.find(key_of(4)));
  const std::ptrdiff_t before = count();
  small.store(key_of(5), module_of(20'000));
  CHECK(count() == before);
}

TEST_CASE_FIXTURE(Fixture, "processes store and find the same modules at the same time") {
  std::vector<pid_t> children;
  for (unsigned child = 0; child < 4; ++child) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    const ModuleCache shared(folder.string(), 20'000);
    bool is_fine = true;
    for (unsigned i = 0; i < 200; ++i) {
      const unsigned key = (i * 7 + child) % 12;
      const Bytes expected = module_of(1500, static_cast<char>('a' + key));
      shared.store(key_of(key), expected);
      const auto found = shared.find(key_of((i * 5) % 12));
      is_fine = is_fine && (!found || *found == module_of(1500, static_cast<char>('a' + (i * 5) % 12)));
    }
    _exit(is_fine ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  // Each of them may have added a file to what another has just counted.
  CHECK(count() <= 14);
  for (const auto& entry : fs::directory_iterator(folder)) CHECK(entry.path().extension() == ".ferry");
}

TEST_CASE_FIXTURE(Fixture, "the environment names the folder and the size, and turns the cache off") {
  const auto with = [&](const char* name, const char* value) {
    setenv(name, value, 1);
    const ModuleCache named = ModuleCache::of_user();
    unsetenv(name);
    return named;
  };
  setenv("XDG_CACHE_HOME", root.c_str(), 1);
  ModuleCache::of_user().store(key_of(1), module);
  CHECK(cache.find(key_of(1)) == module);
  CHECK_FALSE(with("FERRY_CACHE_DISABLE", "1").is_on());
  CHECK(with("FERRY_CACHE_DISABLE", "0").is_on());
  CHECK(with("FERRY_CACHE_DISABLE", "").is_on());
  CHECK_FALSE(with("FERRY_CACHE_MAXSIZE", "0").is_on());
  with("FERRY_CACHE_MAXSIZE", "300").store(key_of(2), module);
  CHECK_FALSE(cache.find(key_of(2)));
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", root.c_str(), 1);
  ModuleCache::of_user().store(key_of(1), module);
  CHECK(fs::exists(root / ".cache" / "ferry" / "modules"));
  unsetenv("HOME");
  CHECK_FALSE(ModuleCache::of_user().is_on());
  unsetenv("XDG_CACHE_HOME");
}
