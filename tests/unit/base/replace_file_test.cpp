#include "base/replace_file.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace ferry {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    char pattern[] = "/tmp/ferry-test-replace-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    path = pattern;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path;
};

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("a file is replaced by one that only its owner can read, and nothing else is left") {
  const Folder folder;
  const std::string path = folder.path + "/key";
  for (const std::string text : {"the first\n", "another, which is longer\n", ""}) {
    CAPTURE(text);
    const Status replaced = replace_file(path, text);
    REQUIRE_MESSAGE(replaced.is_ok(), replaced.message());
    CHECK(contents_of(path) == text);
    struct stat info{};
    REQUIRE(stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
  }
}

TEST_CASE("what a crash has left of an earlier attempt is no obstacle") {
  const Folder folder;
  const std::string path = folder.path + "/key";
  std::ofstream(path + ".new") << "half of a";
  REQUIRE(chmod((path + ".new").c_str(), 0644) == 0);
  REQUIRE(replace_file(path, "whole").is_ok());
  CHECK(contents_of(path) == "whole");
  CHECK((fs::status(path).permissions() & fs::perms::all) == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK_FALSE(fs::exists(path + ".new"));
}

TEST_CASE("a symbolic link is replaced, and the file to which it points stays") {
  const Folder folder;
  const std::string path = folder.path + "/key", target = folder.path + "/target";
  std::ofstream(target) << "kept";
  fs::create_symlink(target, path);
  REQUIRE(replace_file(path, "new").is_ok());
  CHECK(contents_of(path) == "new");
  CHECK(contents_of(target) == "kept");
}

TEST_CASE("a file that cannot be replaced stays as it is, and the message says why") {
  const Folder folder;
  const std::string path = folder.path + "/key";
  std::ofstream(path) << "kept";
  fs::create_directories(path + ".new/inside");  // in the way of the new file, also of root's
  const Status in_the_way = replace_file(path, "new");
  CHECK(in_the_way.code() == ErrorCode::unavailable);
  CHECK(in_the_way.message() == "cannot make " + path + ".new: File exists");
  CHECK(contents_of(path) == "kept");

  const std::string is_folder = folder.path + "/folder";
  fs::create_directories(is_folder + "/inside");
  CHECK(replace_file(is_folder, "new").message() == "cannot replace " + is_folder + ": Is a directory");
  CHECK_FALSE(fs::exists(is_folder + ".new"));

  const std::string nowhere = folder.path + "/none/key";
  CHECK(replace_file(nowhere, "new").message() ==
        "cannot open the folder of " + nowhere + ": No such file or directory");
}

}  // namespace
}  // namespace ferry
