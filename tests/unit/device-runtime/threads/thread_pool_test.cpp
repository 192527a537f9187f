// Tests of parallel loops: every iteration runs once, the work is distributed, failures end the loop, and an idle pool
// uses no processor time.
#include "device-runtime/threads/thread_pool.h"

#include "device-runtime/threads/futex.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace ferry::device {
namespace {

// Adapts a lambda to the body of a loop.
template <class F>
std::int32_t run(ThreadPool& pool, std::int64_t n, std::int64_t grain, F body) {
  return pool.parallel_for(
      n, grain,
      [](std::int64_t begin, std::int64_t end, void* closure) -> std::int32_t {
        return (*static_cast<F*>(closure))(begin, end);
      },
      &body);
}

void sleep_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Returns the threads that take part in a loop that is long enough for all of them.
std::set<unsigned> threads_of_a_long_loop(ThreadPool& pool) {
  std::mutex mutex;
  std::set<unsigned> indices;
  run(pool, 300, 1, [&](std::int64_t, std::int64_t) {
    sleep_ms(8);  // in all long enough for a busy machine to let each thread begin
    const std::lock_guard lock(mutex);
    indices.insert(ThreadPool::thread_index());
    return 0;
  });
  return indices;
}

TEST_CASE("every iteration runs exactly once, whatever the sizes") {
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    ThreadPool pool(threads);
    for (const std::int64_t n : {0, 1, 2, 3, 7, 64, 1000, 4097}) {
      for (const std::int64_t grain : {-5, 0, 1, 3, 64, 5000}) {
        CAPTURE(threads);
        CAPTURE(n);
        CAPTURE(grain);
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
        CHECK(run(pool, n, grain, [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
                return 0;
              }) == 0);
        CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& count) { return count == 1; }));
      }
    }
  }
}

TEST_CASE("chunks hold at least grain iterations, except the last") {
  ThreadPool pool(4);
  std::atomic<int> short_ones{0};
  run(pool, 1003, 10, [&](std::int64_t begin, std::int64_t end) {
    if (end - begin < 10) ++short_ones;
    return 0;
  });
  CHECK(short_ones <= 1);
}

TEST_CASE("loops of a negative or zero size run nothing") {
  ThreadPool pool(2);
  int calls = 0;
  CHECK(run(pool, 0, 1, [&](std::int64_t, std::int64_t) { return ++calls; }) == 0);
  CHECK(run(pool, -7, 1, [&](std::int64_t, std::int64_t) { return ++calls; }) == 0);
  CHECK(calls == 0);
}

TEST_CASE("all threads take part, the caller too, and each knows its index") {
  ThreadPool pool(3);
  CHECK(threads_of_a_long_loop(pool) == std::set<unsigned>{0, 1, 2});
}

TEST_CASE("a body that leaves another rounding mode changes it for no later loop, nor for threads that start in it") {
  ThreadPool pool(3);
  std::fesetround(FE_UPWARD);
  const std::set<unsigned> threads = threads_of_a_long_loop(pool);
  std::fesetround(FE_TONEAREST);
  CHECK(threads.size() == 3);
  for (int round = 0; round < 2; ++round) {
    std::atomic<int> others{0};
    run(pool, 300, 1, [&](std::int64_t, std::int64_t) {
      sleep_ms(1);
      if (ThreadPool::thread_index() == 0) return 0;
      if (round == 0) {
        std::fesetround(FE_DOWNWARD);
      } else if (std::fegetround() != FE_TONEAREST) {
        ++others;
      }
      return 0;
    });
    CHECK(others == 0);
  }
}

TEST_CASE("each thread begins with the same iterations in every loop") {
  ThreadPool pool(3);
  for (int round = 0; round < 3; ++round) {
    std::mutex mutex;
    std::map<unsigned, std::int64_t> first;
    run(pool, 300, 1, [&](std::int64_t begin, std::int64_t) {
      {
        const std::lock_guard lock(mutex);
        first.emplace(ThreadPool::thread_index(), begin);
      }
      sleep_ms(20);
      return 0;
    });
    CHECK(first == std::map<unsigned, std::int64_t>{{0, 0}, {1, 100}, {2, 200}});
  }
}

TEST_CASE("uneven work is balanced") {
  ThreadPool pool(4);
  // The first iteration waits for all that were not begun with it, none of which may be left to its thread.
  std::atomic<std::int64_t> others = 0, together = 0;
  run(pool, 41, 1, [&](std::int64_t first, std::int64_t last) {
    if (first > 0) {
      others += last - first;
      return 0;
    }
    together = last;
    for (int ms = 0; others < 41 - last && ms < 60'000; ++ms) sleep_ms(1);
    CHECK(others == 41 - last);
    return 0;
  });
  CHECK(together.load() <= 5);  // half of a thread's share
}

TEST_CASE("the first failure is returned and chunks that have not started are dropped") {
  ThreadPool pool(2);
  std::atomic<int> runs{0};
  CHECK(run(pool, 1'000'000, 1, [&](std::int64_t begin, std::int64_t) {
          ++runs;
          return begin == 0 ? 42 : 0;
        }) == 42);
  const int after_failure = runs;
  CHECK(after_failure < 1000);
  CHECK(run(pool, 100, 1, [](std::int64_t, std::int64_t) { return 0; }) == 0);
}

TEST_CASE("a loop inside a loop runs inline, on the thread it is in") {
  ThreadPool pool(4);
  std::atomic<int> total{0}, elsewhere{0};
  run(pool, 16, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const unsigned outer = ThreadPool::thread_index();
      const std::int32_t result = run(pool, 100, 1, [&](std::int64_t b, std::int64_t e) {
        if (ThreadPool::thread_index() != outer) ++elsewhere;
        total += static_cast<int>(e - b);
        return 5;
      });
      if (result != 5) ++elsewhere;
    }
    return 0;
  });
  CHECK(total == 1600);
  CHECK(elsewhere == 0);
}

TEST_CASE("many short loops one after the other all complete") {
  ThreadPool pool(4);
  std::int64_t wrong = 0;
  for (int round = 0; round < 20000; ++round) {
    std::atomic<std::int64_t> sum{0};
    const std::int64_t n = 1 + round % 17;
    run(pool, n, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) sum += i + 1;
      return 0;
    });
    if (sum != n * (n + 1) / 2) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("loops with pauses between them wake the sleeping threads") {
  ThreadPool pool(3);
  for (int round = 0; round < 30; ++round) {
    sleep_ms(round % 3);
    std::atomic<std::int64_t> count{0};
    run(pool, 1000, 1, [&](std::int64_t begin, std::int64_t end) {
      count += end - begin;
      return 0;
    });
    CHECK(count == 1000);
  }
}

TEST_CASE("threads that fell asleep take part in the next loop") {
  ThreadPool pool(3);
  run(pool, 1000, 1, [](std::int64_t, std::int64_t) { return 0; });
  sleep_ms(50);
  CHECK(threads_of_a_long_loop(pool) == std::set<unsigned>{0, 1, 2});
}

TEST_CASE("an idle pool does not use the processor") {
  ThreadPool pool(2);
  run(pool, 1000, 1, [](std::int64_t, std::int64_t) { return 0; });
  sleep_ms(20);
  const double before = cpu_seconds();
  sleep_ms(500);
  CHECK(cpu_seconds() - before < 0.05);
}

TEST_CASE("a pool ends at whatever moment its threads are in") {
  for (int round = 0; round < 3000; ++round) {
    ThreadPool pool(2 + static_cast<unsigned>(round % 15));
    std::atomic<std::int64_t> count{0};
    run(pool, 4 + round % 60, 1, [&](std::int64_t begin, std::int64_t end) {
      count += end - begin;
      return 0;
    });
    REQUIRE(count == 4 + round % 60);
    for (int pause = round % 500; pause > 0; --pause) spin_pause();
  }
}

TEST_CASE("a pool made before a fork starts its threads in the child") {
  ThreadPool pool(3);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::atomic<std::int64_t> count{0};
    run(pool, 1000, 1, [&](std::int64_t begin, std::int64_t end) {
      count += end - begin;
      return 0;
    });
    _exit(count == 1000 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace ferry::device
