// Tests ranking on a thread of its own.
#include "host/tune/search/background_ranking.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace ferry;
using tune::BackgroundRanking;
using tune::Modelled;
using tune::PointValues;

namespace {

constexpr int kSide = 16;

std::optional<SpacePoint> square(const PointValues& values) {
  SpacePoint point;
  point.points = kSide * kSide;
  for (const char* name : {"x", "y"}) {
    PointKnob knob{.stage = "C", .name = name, .candidates = {}, .has_numbers = true};
    for (int i = 0; i < kSide; ++i) knob.candidates.push_back(std::to_string(i));
    const auto value = values.find("C." + knob.name);
    if (value != values.end()) knob.chosen = static_cast<std::size_t>(std::stoi(value->second));
    point.knobs.push_back(std::move(knob));
  }
  return point;
}

std::optional<double> cost_of(const SpacePoint& point) {
  return 1.0 + static_cast<double>((point.knobs[0].chosen + 3 * point.knobs[1].chosen) % 17);
}

std::vector<std::vector<std::string>> values_of(const Modelled& modelled) {
  std::vector<std::vector<std::string>> all;
  for (const tune::ModelledPoint& ranked : modelled.points) all.push_back(values_in_order(ranked.point));
  return all;
}

// Waits until points are ranked.
class End {
 public:
  explicit End(BackgroundRanking& ranking) {
    ranking.on_ranked([this] {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
      changed_.notify_all();
    });
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_over_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
};

}  // namespace

TEST_CASE("a thread of its own ranks points as the calling thread does") {
  BackgroundRanking ranking(square, cost_of, 3);
  End end(ranking);
  CHECK_FALSE(ranking.take());
  ranking.resume();
  end.wait();
  std::optional<Modelled> modelled = ranking.take();
  REQUIRE(modelled);
  const auto points = values_of(*modelled);
  CHECK(points.size() == kSide * kSide);
  CHECK(points == values_of(*tune::rank_at_once(square, cost_of, 3)()));
}

TEST_CASE("no point is ranked between a pause and its end") {
  std::atomic<int> count = 0;
  const auto slow = [&](const SpacePoint& point) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    ++count;
    return cost_of(point);
  };
  BackgroundRanking ranking(square, slow, 3);
  End end(ranking);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(count == 0);
  ranking.resume();
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ranking.pause();
    ranking.pause();
    const int before = count;
    ranking.resume();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(count == before);
    ranking.resume();
  }
  end.wait();
  CHECK(values_of(*ranking.take()) == values_of(*tune::rank_at_once(square, cost_of, 3)()));
}

TEST_CASE("a ranking that is no longer needed ends before its points do, paused or not") {
  for (const bool is_paused : {false, true}) {
    std::atomic<int> count = 0;
    {
      BackgroundRanking ranking(
          square,
          [&](const SpacePoint& point) {
            ++count;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            return cost_of(point);
          },
          3);
      ranking.resume();
      while (count == 0) std::this_thread::yield();
      if (is_paused) ranking.pause();
    }
    CHECK(count < kSide * kSide);
  }
}

TEST_CASE("an error of the model is thrown where its points are taken") {
  BackgroundRanking ranking(
      square, [](const SpacePoint&) -> std::optional<double> { throw std::runtime_error("no cost"); }, 3);
  End end(ranking);
  ranking.resume();
  end.wait();
  CHECK_THROWS_WITH_AS(ranking.take(), "no cost", std::runtime_error);
}
