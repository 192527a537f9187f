#include "rpc/secure/parallel_records.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

namespace ferry::secure {
namespace {

TEST_CASE("a helper does every part of the work once and is finished when share() returns") {
  for (const std::size_t count : {0, 1, 2, 3, 16, 1000}) {
    CAPTURE(count);
    ParallelRecords helper;
    std::vector<int> times(count);
    for (int round = 1; round <= 200; ++round) {
      helper.share(count, [&](std::size_t i) { ++times[i]; });
      REQUIRE(times == std::vector<int>(count, round));
    }
  }
}

TEST_CASE("a helper works at the same time as its owner") {
  ParallelRecords helper;
  std::atomic<int> inside{0};
  helper.share(2, [&](std::size_t) {
    ++inside;
    while (inside != 2) std::this_thread::yield();
  });
  CHECK(inside == 2);
}

TEST_CASE("a helper that was never needed ends") {
  for (int i = 0; i < 100; ++i) ParallelRecords();
}

TEST_CASE("a thread that is kept to one core has no second one") {
  bool has = true;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) has = has_second_core();
  }).join();
  CHECK_FALSE(has);
}

}  // namespace
}  // namespace ferry::secure
