// What a report of JUnit's XML says before, while and after a command works.
#include "host/cli/options/junit_option.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "ferry/error.h"
#include "host/kernel/file.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;
using namespace ferry::cli;

TEST_CASE("while a command works, its report does not say what an earlier run found") {
  const test::Folder folder;
  const std::string file = folder.file("out.xml", "yesterday");
  const auto has = [&](const char* text) { return read_file(file).find(text) != std::string::npos; };
  with_junit(file, "ferry run", [&](text::JUnitReport& report) {
    CHECK(!has("yesterday"));
    CHECK(has("<error message=\"ferry is still running"));
    report.cases.push_back({.name = "y"});
    return 0;
  });
  CHECK(!has("<error"));
  CHECK(has("name=\"y\""));
  CHECK_THROWS_AS(with_junit(file, "ferry run", [](text::JUnitReport&) -> int { throw UsageError("no such size"); }),
                  UsageError);
  CHECK(has("<error message=\"no such size\""));
}

TEST_CASE("only what is a file is written more than once") {
  const test::Folder folder;
  CHECK(is_replaceable(folder.file("out.xml", "")));
  CHECK(is_replaceable(folder.file("new", "") + "er"));
  CHECK_FALSE(is_replaceable("-"));
  CHECK_FALSE(is_replaceable("/dev/null"));
}
