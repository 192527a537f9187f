// Tests of files that a user names.
#include "host/kernel/file.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "ferry/error.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

TEST_CASE("a file that cannot be written is told before the work, and nothing is made meanwhile") {
  const test::Folder folder;
  const std::string there = folder.file("there.txt", "kept"), missing = folder.file("new.txt", "");
  std::filesystem::remove(missing);
  CHECK_NOTHROW(expect_writable(there));
  CHECK_NOTHROW(expect_writable(missing));
  CHECK_NOTHROW(expect_writable("-"));
  CHECK_NOTHROW(expect_writable("/dev/null"));
  CHECK_FALSE(std::filesystem::exists(missing));
  CHECK(read_file(there) == "kept");
  const std::string directory = std::filesystem::path(there).parent_path().string();
  const auto refused = [](const std::string& name, const std::string& why) {
    CHECK_THROWS_WITH_AS(expect_writable(name), ("cannot write '" + name + "': " + why).c_str(), UsageError);
  };
  refused(directory, "Is a directory");
  refused(directory + "/none/new.txt", "No such file or directory");
  refused(there + "/new.txt", "Not a directory");
}
