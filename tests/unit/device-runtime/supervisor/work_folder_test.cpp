#include "device-runtime/supervisor/work_folder.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace ferry::device {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a work folder with a relative path stays where it is when a session changes to another folder") {
  std::string pattern = (fs::temp_directory_path() / "ferry-work-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  const fs::path before = fs::current_path();
  fs::current_path(pattern);
  const Result<WorkFolder> folder = WorkFolder::open("work");
  fs::current_path(before);
  REQUIRE_MESSAGE(folder.is_ok(), folder.status().message());
  CHECK(fs::path(folder.value().path()) == fs::canonical(pattern) / "work");
  CHECK(fs::is_directory(folder.value().modules()));
  CHECK(fs::is_directory(folder.value().blobs()));
  fs::remove_all(pattern);
}

}  // namespace
}  // namespace ferry::device
