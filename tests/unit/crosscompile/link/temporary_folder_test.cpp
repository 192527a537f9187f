#include "crosscompile/link/temporary_folder.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

using namespace ferry;

TEST_CASE("a temporary folder vanishes with its files") {
  std::string path;
  {
    const link::TemporaryFolder folder;
    path = folder.file("");
    link::write_file(folder.file("a"), "text");
    CHECK(std::filesystem::exists(folder.file("a")));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a temporary folder vanishes where the process ends without destructors") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const link::TemporaryFolder folder;
    link::write_file(folder.file("a"), "text");
    const std::string path = folder.file("");
    std::quick_exit(write(ends[1], path.data(), path.size()) == static_cast<ssize_t>(path.size()) ? 0 : 1);
  }
  int how = 0;
  REQUIRE(waitpid(child, &how, 0) == child);
  CHECK(how == 0);
  char path[4096] = {};
  CHECK(read(ends[0], path, sizeof path - 1) > 0);
  CHECK_FALSE(std::filesystem::exists(path));
  for (const int end : ends) close(end);
}
