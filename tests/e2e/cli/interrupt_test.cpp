// Tests of what a signal such as Ctrl-C leaves behind. It comes while a stand-in for the C compiler runs.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

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

pid_t parent_of(pid_t process) {
  const std::string stat = test::content_of("/proc/" + std::to_string(process) + "/stat");
  const std::size_t name_ends = stat.rfind(')');
  return name_ends == std::string::npos || stat.size() < name_ends + 5 ? 0 : std::stoi(stat.substr(name_ends + 4));
}

// Sends ferry a signal while the stand-in for its compiler runs, when that has been started so often. The stand-in is
// confined and cannot.
class Interruption {
 public:
  Interruption(std::string compiler, std::size_t starts, int signal)
      : thread_([this, compiler = std::move(compiler), starts, signal] {
          std::set<pid_t> seen;
          for (; !is_over_ && seen.size() < starts; std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
            for (const pid_t process : running(compiler)) {
              if (!seen.insert(process).second || seen.size() != starts) continue;
              // Between them is the process that watches over the compiler.
              if (const pid_t ferry = parent_of(parent_of(process)); ferry > 1) kill(ferry, signal);
            }
          }
        }) {}
  ~Interruption() {
    is_over_ = true;
    thread_.join();
  }

 private:
  static std::vector<pid_t> running(const std::string& script) {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const pid_t process = std::stoi(name);
      // What a shell forks has its words until it executes another program.
      if (runs(process, script) && !runs(parent_of(process), script)) found.push_back(process);
    }
    return found;
  }
  static bool runs(pid_t process, const std::string& script) {
    return contains(test::content_of("/proc/" + std::to_string(process) + "/cmdline"),
                    std::string(1, 0) + script + std::string(1, 0));
  }

  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a signal during compilation ends it, and its temporary folder is removed") {
  const Folder folder;
  const std::string kernel = folder.file("k.c", kKernel), temporary = folder.path("temporary");
  std::filesystem::create_directory(temporary);
  for (const int number : {SIGINT, SIGTERM}) {
    CAPTURE(number);
    // One of its own: that of the round before may not have ended yet.
    const std::string compiler = program(folder, "clang" + std::to_string(number), "sleep 30\n");
    const Interruption interruption(compiler, 1, number);
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
  const std::string compiler = program(folder, "clang", "sleep 0.3\nexec clang-19 \"$@\"\n");
  const Interruption interruption(compiler, 3, SIGINT);
  const std::vector<std::string> words{"bench", kernel, "--sweep", "n=1,2,3,4,5", "--no-peak", "--repeat", "3"};
  std::vector<std::string> as_json = words;
  const std::string page = folder.path("page.html");
  as_json.insert(as_json.end(), {"--json", "--html", page});
  const Outcome outcome = run_ferry(as_json, "", {{"FERRY_CLANG", compiler}});
  CAPTURE(outcome.err);
  CHECK(outcome.code == 128 + SIGINT);
  CHECK(contains(outcome.err, "interrupted: not everything was measured"));
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json["interrupted"] == true);
  CHECK(json["errors"].empty());
  REQUIRE(json["results"].size() == 2);
  CHECK(json["results"][1]["sizes"]["n"] == 2);
  CHECK(contains(test::content_of(page), "Interrupted: not everything was measured."));
  CHECK(contains(test::content_of(page), ">n=2</th>"));
  CHECK_FALSE(contains(test::content_of(page), ">n=3</th>"));
}
