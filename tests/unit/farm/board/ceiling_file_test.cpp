// The file with the ceiling of epochs, also on a disk that is full.
#include "farm/board/ceiling_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ferry::device {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    char pattern[] = "/tmp/ferry-ceiling-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    path = pattern;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path;
};

TEST_CASE("a ceiling is read back, however long its number is") {
  const Folder folder;
  for (const lease::Epoch ceiling : {lease::Epoch{7}, lease::Epoch{123456789012345}, lease::Epoch{8}, UINT64_MAX}) {
    {
      auto file = CeilingFile::open(folder.path);
      REQUIRE(file.is_ok());
      REQUIRE(file.value().write(ceiling).is_ok());
      CHECK(file.value().ceiling() == ceiling);
    }
    CHECK(CeilingFile::open(folder.path).value().ceiling() == ceiling);
  }
}

TEST_CASE("the next server opens the file although a process that was forked from the last one lives on") {
  const Folder folder;
  pid_t child = 0;
  {
    const auto file = CeilingFile::open(folder.path);
    REQUIRE(file.is_ok());
    child = fork();
    if (child == 0) {
      while (true) pause();
    }
    CHECK_FALSE(CeilingFile::open(folder.path).is_ok());
  }
  CHECK(CeilingFile::open(folder.path).is_ok());
  kill(child, SIGKILL);
  CHECK(waitpid(child, nullptr, 0) == child);
}

TEST_CASE("a spare file that is damaged, a link or gone does not matter") {
  const Folder folder;
  const std::string spare = folder.path + "/epoch-ceiling.spare";
  REQUIRE(CeilingFile::open(folder.path).value().write(5).is_ok());
  SUBCASE("damaged") { std::ofstream(spare) << "nonsense"; }
  SUBCASE("gone") { fs::remove(spare); }
  SUBCASE("a link") {
    fs::remove(spare);
    std::ofstream(folder.path + "/target") << "kept";
    fs::create_symlink(folder.path + "/target", spare);
  }
  auto file = CeilingFile::open(folder.path);
  REQUIRE(file.is_ok());
  CHECK(file.value().ceiling() == 5);
  REQUIRE(file.value().write(6).is_ok());
  if (fs::exists(folder.path + "/target")) CHECK(fs::file_size(folder.path + "/target") == 4);
}

TEST_CASE("a ceiling is written on a disk without space, which was filled after the server started or before") {
  const Folder folder;
  if (mount("none", folder.path.c_str(), "tmpfs", 0, "size=64k,mode=700") != 0) {
    MESSAGE("skipped: only root can mount a small disk");
    return;
  }
  {
    auto file = CeilingFile::open(folder.path);
    REQUIRE(file.is_ok());
    const int filler = open((folder.path + "/filler").c_str(), O_WRONLY | O_CREAT, 0600);
    const std::string block(4096, 'x');
    while (write(filler, block.data(), block.size()) > 0) {
    }
    close(filler);
    CHECK(file.value().write(41).is_ok());
    CHECK(file.value().write(1'000'000'000'042).is_ok());
  }
  {
    auto file = CeilingFile::open(folder.path);
    REQUIRE(file.is_ok());
    CHECK(file.value().ceiling() == 1'000'000'000'042);
    CHECK(file.value().write(1'000'000'000'043).is_ok());
  }
  CHECK(CeilingFile::open(folder.path).value().ceiling() == 1'000'000'000'043);
  umount(folder.path.c_str());
}

}  // namespace
}  // namespace ferry::device
