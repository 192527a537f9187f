// Tests builds in processes of their own, those included that end badly.
#include "host/tune/builder/process_builder.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

using namespace ferry;
using namespace ferry::tune;

namespace {

using Clock = std::chrono::steady_clock;

// Points name what is to happen.
ModuleBytes compile(const PointInOrder& point) {
  if (point.empty()) return {1, 2, 3};
  if (point[0] == "refuse") throw std::runtime_error("expected a tile, got " + point.at(1));
  if (point[0] == "crash") std::raise(SIGSEGV);
  if (point[0] == "abort") std::abort();
  if (point[0] == "exit") _exit(0);
  if (point[0] == "hang") {
    std::atomic<std::uint64_t> turns = 0;
    while (true) ++turns;
  }
  if (point[0] == "process") {
    const std::string number = std::to_string(getpid());
    return {number.begin(), number.end()};
  }
  if (point[0] == "compute") {
    const std::clock_t end = std::clock() + CLOCKS_PER_SEC * 6 / 10;
    while (std::clock() < end) {
    }
  }
  if (point[0] == "large") return ModuleBytes(3'000'000, 7);
  if (point[0] == "work") {
    const auto end = Clock::now() + std::chrono::milliseconds(300);
    while (Clock::now() < end) {
    }
  }
  ModuleBytes bytes;
  for (const std::string& value : point) bytes.insert(bytes.end(), value.begin(), value.end());
  return bytes;
}

Failure failure_of(const BuildResult& result) {
  REQUIRE(std::holds_alternative<Failure>(result));
  return std::get<Failure>(result);
}

}  // namespace

TEST_CASE("a build returns what was compiled in another process, however large") {
  ProcessBuilder builder(compile);
  CHECK(std::get<ModuleBytes>(builder.build({})) == ModuleBytes{1, 2, 3});
  CHECK(std::get<ModuleBytes>(builder.build({"4x2", "", "#1"})) == ModuleBytes{'4', 'x', '2', '#', '1'});
  CHECK(std::get<ModuleBytes>(builder.build({"large"})) == ModuleBytes(3'000'000, 7));
}

TEST_CASE("a point that is refused, crashes, ends or hangs is a failure, and the next build works") {
  ProcessBuilder builder(compile, {.seconds = 1});
  const Failure refused = failure_of(builder.build({"refuse", "5"}));
  CHECK(refused.outcome == Outcome::refused);
  CHECK(refused.reason == "expected a tile, got 5");
  for (const char* how : {"crash", "abort", "exit"}) {
    const Failure crashed = failure_of(builder.build({how}));
    CHECK(crashed.outcome == Outcome::crashed);
    CHECK(crashed.reason == "the compiler crashed");
  }
  const Failure hung = failure_of(builder.build({"hang"}));
  CHECK(hung.outcome == Outcome::hung);
  CHECK(hung.reason == "it was not compiled within 1 s of processor time");
  CHECK(std::get<ModuleBytes>(builder.build({"a"})) == ModuleBytes{'a'});
}

TEST_CASE("a process that has built a point builds the next one, and one that has failed ends") {
  ProcessBuilder builder(compile);
  const auto process = [&] { return std::get<ModuleBytes>(builder.build({"process"})); };
  const ModuleBytes first = process();
  CHECK(process() == first);
  CHECK(failure_of(builder.build({"refuse", "5"})).outcome == Outcome::refused);
  const ModuleBytes second = process();
  CHECK(second != first);
  CHECK(failure_of(builder.build({"crash"})).outcome == Outcome::crashed);
  CHECK(process() != second);
}

TEST_CASE("the limit on processor time is that of each build, whatever its process has computed before") {
  ProcessBuilder builder(compile, {.seconds = 1});
  const ModuleBytes process = std::get<ModuleBytes>(builder.build({"process"}));
  for (int i = 0; i < 3; ++i) CHECK(std::holds_alternative<ModuleBytes>(builder.build({"compute"})));
  CHECK(std::get<ModuleBytes>(builder.build({"process"})) == process);
  CHECK(failure_of(builder.build({"hang"})).outcome == Outcome::hung);
}

TEST_CASE("several builds run at the same time, and stand still while the builder is paused") {
  ProcessBuilder builder(compile);
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  builder.pause();
  builder.pause();
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      if (std::holds_alternative<ModuleBytes>(builder.build({"work"}))) ++done;
    });
  builder.resume();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  CHECK(done == 0);
  builder.resume();
  for (std::thread& thread : threads) thread.join();
  CHECK(done == 3);
}

TEST_CASE("a builder ends while it is paused") {
  const auto start = Clock::now();
  {
    ProcessBuilder builder(compile);
    CHECK(std::holds_alternative<ModuleBytes>(builder.build({"a"})));
    builder.pause();
  }
  CHECK(Clock::now() - start < std::chrono::seconds(10));
}
