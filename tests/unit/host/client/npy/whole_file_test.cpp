#include "host/client/npy/whole_file.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace ferry::npy {
namespace {

namespace fs = std::filesystem;

struct Fixture {
  Fixture() {
    std::string pattern = (fs::temp_directory_path() / "ferry_whole_file.XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder = pattern;
  }
  ~Fixture() { fs::remove_all(folder); }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int write(const std::string& name, const std::string& text) const {
    return write_whole_file(path(name), {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  fs::path folder;
};

TEST_CASE_FIXTURE(Fixture, "a file is made and replaced, and keeps its mode") {
  CHECK(write("a", "first") == 0);
  CHECK(content("a") == "first");
  REQUIRE(chmod(path("a").c_str(), 0640) == 0);
  CHECK(write("a", "second") == 0);
  CHECK(content("a") == "second");
  struct stat now{};
  REQUIRE(stat(path("a").c_str(), &now) == 0);
  CHECK((now.st_mode & 07777) == 0640);
  CHECK(files() == 1);
}

TEST_CASE_FIXTURE(Fixture, "a file that cannot be written whole leaves the old one and nothing beside it") {
  REQUIRE(write("a", "old") == 0);
  // Simulates a full disk: no file can grow beyond this size.
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit little{1000, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &little) == 0);
  const int old = write("a", std::string(5000, 'x')), fresh = write("b", std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  CHECK(old == EFBIG);
  CHECK(fresh == EFBIG);
  CHECK(content("a") == "old");
  CHECK(files() == 1);
}

TEST_CASE_FIXTURE(Fixture, "what a link leads to is replaced, and the link stays") {
  REQUIRE(write("a", "old") == 0);
  fs::create_symlink("a", folder / "link");
  CHECK(write("link", "new") == 0);
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(content("a") == "new");
}

TEST_CASE_FIXTURE(Fixture, "devices are written to as they stand, and say what is wrong") {
  const std::vector<std::uint8_t> bytes(10);
  CHECK(write_whole_file("/dev/full", bytes) == ENOSPC);
  CHECK(write_whole_file("/dev/null", bytes) == 0);
  CHECK(write_whole_file(path("nowhere/a"), bytes) == ENOENT);
  CHECK(write_whole_file(folder.string(), bytes) == EISDIR);
}

}  // namespace
}  // namespace ferry::npy
