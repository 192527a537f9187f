// Tests what builds points and runs them at the same time, with devices that are simulated.
#include "host/tune/pipeline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "ferry/error.h"

using namespace ferry;
using namespace ferry::tune;

namespace {

using std::chrono::milliseconds;

SpacePoint numbered(int number) {
  SpacePoint point;
  point.knobs.push_back({.stage = "C", .name = "k", .candidates = {std::to_string(number)}, .has_numbers = true});
  return point;
}

// Modules are the text of the point's number.
ModuleBytes compile(const PointInOrder& point) {
  if (point.at(0) == "7") throw std::runtime_error("seven");
  return {point[0].begin(), point[0].end()};
}

struct Simulated final : Runner {
  std::string name = "simulated";
  milliseconds pause{0};
  std::size_t room = 1;  // for so many trials
  int vanishes_after = 1'000'000;
  std::atomic<int> ran = 0;
  std::size_t most_at_hand = 0;
  std::atomic<std::size_t>*running = nullptr, *most = nullptr;  // how many are running, and were at once

  struct Submitted {
    std::uint64_t number;
    std::shared_ptr<const ModuleBytes> module;
  };
  std::deque<Submitted> at_hand;

  bool has_room() const override { return at_hand.size() < room; }
  void submit(std::uint64_t number, std::shared_ptr<const ModuleBytes> module) override {
    at_hand.push_back({number, std::move(module)});
    most_at_hand = std::max(most_at_hand, at_hand.size());
  }
  std::optional<EndedTrial> wait(double, milliseconds) override {
    if (ran >= vanishes_after) throw Error(ErrorCode::unavailable, name + " is gone");
    ++ran;
    if (running != nullptr) *most = std::max(most->load(), ++*running);
    std::this_thread::sleep_for(pause);
    if (running != nullptr) --*running;
    // They end in another order than that in which they came.
    const Submitted last = std::move(at_hand.back());
    at_hand.pop_back();
    const double seconds = std::stod(std::string(last.module->begin(), last.module->end())) + 1;
    return EndedTrial{last.number,
                      {Outcome::measured, {}, MeasuredTime{seconds, seconds, seconds}, MeasuredTime{2, 2, 2}}};
  }
  std::optional<double> time_again(const ModuleBytes&) override { return std::nullopt; }
  std::string device() const override { return name; }
  std::map<std::string, std::string> environment() const override { return {}; }
};

PipelineParts parts_for(int points, int& next) {
  return {.next = [points, &next]() -> std::optional<SpacePoint> {
            return next < points ? std::optional(numbered(next++)) : std::nullopt;
          },
          .identity =
              [](const ModuleBytes& module) {
                Hash hash{};
                hash[0] = module.at(0) == '3' ? '2' : module.at(0);  // 2 and 3 are the same code
                if (module.size() > 1) hash[1] = module[1];
                return hash;
              },
          .builders = 2,
          .runners = {}};
}

}  // namespace

TEST_CASE("every point comes back once with its time or why there is none, and equal code runs once") {
  DirectBuilder builder(compile);
  int next = 0;
  PipelineParts parts = parts_for(10, next);
  auto device = std::make_unique<Simulated>();
  Simulated& simulated = *device;
  parts.runners.push_back(std::move(device));
  Pipeline pipeline(std::move(parts));
  pipeline.start(builder);
  std::set<std::string> seen;
  while (!pipeline.is_exhausted()) {
    const auto tried = pipeline.wait(0.1);
    if (!tried) continue;
    const std::string number = values_in_order(tried->point)[0];
    CHECK(seen.insert(number).second);
    if (number == "7") {
      CHECK(tried->trial.outcome == Outcome::refused);
      CHECK(tried->trial.reason == "seven");
    } else {
      REQUIRE(tried->trial.time);
    }
  }
  CHECK(seen.size() == 10);
  CHECK(simulated.ran <= 9);  // 7 was not built; 2 and 3 are one unless both were ready at once
}

TEST_CASE("several devices run points at the same time") {
  DirectBuilder builder(compile);
  constexpr std::size_t kDevices = 4;
  int next = 0;
  std::atomic<std::size_t> running = 0, most = 0;
  PipelineParts parts = parts_for(60, next);
  for (std::size_t d = 0; d < kDevices; ++d) {
    auto device = std::make_unique<Simulated>();
    device->running = &running;
    device->most = &most;
    device->pause = milliseconds(10);
    parts.runners.push_back(std::move(device));
  }
  Pipeline pipeline(std::move(parts));
  pipeline.start(builder);
  while (!pipeline.is_exhausted()) (void)pipeline.wait(0.1);
  CHECK(most == kDevices);
}

TEST_CASE("four devices try several times as much as one where builds are not the limit") {
  const auto seconds_with = [](std::size_t devices) {
    DirectBuilder builder(compile);
    int next = 0;
    PipelineParts parts = parts_for(80, next);
    for (std::size_t d = 0; d < devices; ++d) {
      auto device = std::make_unique<Simulated>();
      device->pause = milliseconds(20);
      parts.runners.push_back(std::move(device));
    }
    Pipeline pipeline(std::move(parts));
    const auto start = std::chrono::steady_clock::now();
    auto last = start;
    pipeline.start(builder);
    while (!pipeline.is_exhausted())
      if (pipeline.wait(0.1)) last = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(last - start).count();
  };
  const double one = seconds_with(1), four = seconds_with(4);
  MESSAGE("times the trials a second: " << one / four);
  // Close to four times on a quiet machine.
  CHECK(one > 2.5 * four);
}

TEST_CASE("another device tries what a device was given that is gone, and the last one's error is thrown") {
  DirectBuilder builder(compile);
  int next = 0;
  PipelineParts parts = parts_for(30, next);
  for (const int trials : {3, 1'000'000}) {
    auto device = std::make_unique<Simulated>();
    device->name = "board " + std::to_string(trials);
    device->vanishes_after = trials;
    device->pause = milliseconds(1);
    parts.runners.push_back(std::move(device));
  }
  Pipeline pipeline(std::move(parts));
  pipeline.start(builder);
  std::set<std::string> seen;
  while (!pipeline.is_exhausted())
    if (const auto tried = pipeline.wait(0.1)) seen.insert(values_in_order(tried->point)[0]);
  CHECK(seen.size() == 30);

  int again = 0;
  PipelineParts lost = parts_for(30, again);
  auto device = std::make_unique<Simulated>();
  device->vanishes_after = 2;
  lost.runners.push_back(std::move(device));
  Pipeline without(std::move(lost));
  without.start(builder);
  CHECK_THROWS_WITH(
      [&] {
        while (true) (void)without.wait(0.1);
      }(),
      "simulated is gone");
}

TEST_CASE(
    "a device is given as many trials as it has room for, and each gets its own result in whatever order they end") {
  DirectBuilder builder(compile);
  int next = 0;
  PipelineParts parts = parts_for(60, next);
  auto device = std::make_unique<Simulated>();
  Simulated& simulated = *device;
  simulated.room = 3;
  simulated.pause = milliseconds(5);
  parts.runners.push_back(std::move(device));
  Pipeline pipeline(std::move(parts));
  pipeline.start(builder);
  std::set<std::string> seen;
  while (!pipeline.is_exhausted()) {
    const auto tried = pipeline.wait(0.1);
    if (!tried) continue;
    const std::string number = values_in_order(tried->point)[0];
    CHECK(seen.insert(number).second);
    // Points that begin with 2 and 3 have the same code.
    const bool is_alone = number[0] != '2' && number[0] != '3';
    if (tried->trial.time && is_alone) CHECK(tried->trial.time->seconds == std::stod(number) + 1);
  }
  CHECK(seen.size() == 60);
  CHECK(simulated.most_at_hand == 3);
}

TEST_CASE("all trials of a device that is gone go to another one") {
  DirectBuilder builder(compile);
  int next = 0;
  PipelineParts parts = parts_for(30, next);
  for (const int trials : {3, 1'000'000}) {
    auto device = std::make_unique<Simulated>();
    device->room = 4;
    device->vanishes_after = trials;
    device->pause = milliseconds(2);
    parts.runners.push_back(std::move(device));
  }
  Pipeline pipeline(std::move(parts));
  pipeline.start(builder);
  std::multiset<std::string> seen;
  while (!pipeline.is_exhausted())
    if (const auto tried = pipeline.wait(0.1)) seen.insert(values_in_order(tried->point)[0]);
  CHECK(seen.size() == 30);
  CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == 30);
}

TEST_CASE("after a pause everything goes on: no point is lost, and none comes twice") {
  int next = 0;
  PipelineParts parts = parts_for(40, next);
  auto device = std::make_unique<Simulated>();
  device->pause = milliseconds(2);
  parts.runners.push_back(std::move(device));
  Pipeline pipeline(std::move(parts));
  std::set<std::string> seen;
  int pauses = 0;
  while (next < 40 || !pipeline.is_exhausted()) {
    DirectBuilder builder(compile);
    pipeline.start(builder);
    for (int number = 0; number < 3 && !pipeline.is_exhausted(); ++number)
      if (const auto tried = pipeline.wait(0.1)) CHECK(seen.insert(values_in_order(tried->point)[0]).second);
    pipeline.pause();
    REQUIRE(++pauses < 100);
  }
  CHECK(seen.size() == 40);
}
