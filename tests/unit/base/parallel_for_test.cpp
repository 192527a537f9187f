#include "base/parallel_for.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ferry {
namespace {

// Returns the threads that ran the actions.
std::set<std::thread::id> threads_of(std::size_t count) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  parallel_for(count, [&](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  return threads;
}

TEST_CASE("each index is visited once") {
  for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
    std::vector<std::atomic<int>> visits(count);
    parallel_for(count, [&](std::size_t i) { ++visits[i]; });
    for (const std::atomic<int>& visited : visits) CHECK(visited == 1);
  }
}

TEST_CASE("the failure of the lowest index is reported, and all lower ones have been visited") {
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<std::atomic<int>> visits(100);
    const auto fail = [&] {
      parallel_for(visits.size(), [&](std::size_t i) {
        ++visits[i];
        // The lowest failure is the last to happen.
        if (i == 20) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (i >= 20) throw std::runtime_error(std::to_string(i));
      });
    };
    CHECK_THROWS_WITH_AS(fail(), "20", std::runtime_error);
    for (std::size_t i = 0; i <= 20; ++i) CHECK(visits[i] == 1);
  }
}

TEST_CASE("there are no more threads than processors that may run the process") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(threads_of(50).size() <= static_cast<std::size_t>(CPU_COUNT(&before)));
  int first = 0;
  while (!CPU_ISSET(static_cast<unsigned>(first), &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(first), &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  const std::set<std::thread::id> threads = threads_of(50);
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(threads == std::set{std::this_thread::get_id()});
}

}  // namespace
}  // namespace ferry
