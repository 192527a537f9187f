// Tests of what a signal such as Ctrl-C leaves behind. A stand-in for the C compiler sends it at a known moment.
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/e2e/cli/run_ferry.h"

using namespace ferry;
using test::contains;
using test::Folder;
using test::Outcome;
using test::run_ferry;

namespace {

const char* const kKernel =
    "// ferry: k(inout f32[n] x)\nvoid k(float* x, long n) { for (long i = 0; i < n; ++i) x[i] = 1; }\n";

std::string program(const Folder& folder, const std::string& name, const std::string& lines) {
  const std::string path = folder.file(name, "#!/bin/sh\n" + lines);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

}  // namespace

TEST_CASE("a signal during compilation ends it, and its temporary folder is removed") {
  const Folder folder;
  const std::string kernel = folder.file("k.c", kKernel), temporary = folder.path("temporary");
  std::filesystem::create_directory(temporary);
  for (const int number : {SIGINT, SIGTERM}) {
    CAPTURE(number);
    const std::string compiler =
        program(folder, "clang", "kill -" + std::to_string(number) + " $PPID\nexec sleep 30\n");
    const Outcome outcome = run_ferry({"compile", kernel, "-o", folder.path("k.ferry")}, "",
                                      {{"FERRY_CLANG", compiler}, {"TMPDIR", temporary}});
    CHECK(outcome.code == 128 + number);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.empty());
    CHECK(outcome.seconds < 20);
    CHECK(std::filesystem::is_empty(temporary));
    CHECK(!std::filesystem::exists(folder.path("k.ferry")));
  }
}

TEST_CASE("a sweep that is interrupted prints what it has measured") {
  const Folder folder;
  const std::string kernel = folder.file("k.c", kKernel);
  // It is compiled once to learn its parameters, and then for each size. The signal comes while it is for the second.
  const std::string compiler =
      program(folder, "clang",
              "echo one >> '" + folder.path("runs") + "'\n" + "[ $(wc -l < '" + folder.path("runs") +
                  "') -eq 3 ] && kill -INT $PPID\n" + "exec clang-19 \"$@\"\n");
  const std::vector<std::string> words{"bench", kernel, "--sweep", "n=1,2,3,4,5", "--no-peak", "--repeat", "3"};
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const Outcome outcome = run_ferry(as_json, "", {{"FERRY_CLANG", compiler}});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 128 + SIGINT);
  CHECK(contains(outcome.err, "interrupted: not everything was measured"));
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json["interrupted"] == true);
  CHECK(json["errors"].empty());
  REQUIRE(json["results"].size() == 2);
  CHECK(json["results"][1]["sizes"]["n"] == 2);
}
