// Tests of the steps around samples: flushing caches, moving threads to cores, reading the processor's counters.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <thread>

#include "base/descriptor.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/measure/cold_cache.h"
#include "device-runtime/measure/convergence.h"
#include "device-runtime/measure/counters.h"
#include "device-runtime/measure/pinning.h"

namespace ferry::device {
namespace {

std::int64_t walk_ns(const std::vector<std::uint64_t>& memory) {
  const std::int64_t begin = now_ns();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < memory.size(); i += 8) sum += memory[i];
  const std::int64_t elapsed = now_ns() - begin;
  volatile std::uint64_t used = sum;
  (void)used;
  return elapsed;
}

TEST_CASE("memory that was cooled is slower to read than memory that was not") {
  const std::vector<std::uint64_t> memory(16 << 10, 1);  // 128 KiB
  ColdCache cold(1 << 20);
  REQUIRE(cold.is_ready());
  const MemoryRange range{memory.data(), memory.size() * 8};
  std::int64_t warm_ns = 1'000'000'000, cold_ns = 1'000'000'000;
  for (int i = 0; i < 50; ++i) {
    walk_ns(memory);
    warm_ns = std::min(warm_ns, walk_ns(memory));
    cold.cool({&range, 1});
    cold_ns = std::min(cold_ns, walk_ns(memory));
  }
  CHECK(cold_ns > warm_ns);
}

TEST_CASE("all threads move to the wanted cores and back") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  std::atomic<bool> moved{false}, stop{false};
  std::atomic<int> seen{0};
  std::thread other([&] {
    while (!stop) {
      cpu_set_t mine;
      sched_getaffinity(0, sizeof mine, &mine);
      if (moved) seen = CPU_COUNT(&mine);
    }
  });
  unsigned core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  {
    const Descriptor threads(open("/proc/self/task", O_RDONLY | O_CLOEXEC));
    Pinning pinning(threads.number());
    REQUIRE(pinning.move_to({core}).is_ok());
    moved = true;
    CHECK(sched_getcpu() == static_cast<int>(core));
    while (seen == 0) std::this_thread::yield();
    CHECK(seen == 1);
  }
  stop = true;
  other.join();
  cpu_set_t after;
  REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}

TEST_CASE("a core that is not there is refused by number, and nothing moves") {
  Pinning pinning(-1);
  CHECK(pinning.move_to({1000}).message() == "measure: expected cores that this session may use, got 1000");
  CHECK(pinning.move_to({}).is_ok());
}

TEST_CASE("counters count, or say why they do not") {
  Counters counters;
  counters.open();
  counters.start();
  volatile unsigned sum = 0;
  for (unsigned i = 0; i < 1'000'000; ++i) sum = sum + i;
  counters.stop();
  const Counts counts = counters.read();
  if (counters.error() != 0) {
    MESSAGE("no counters here: errno " << counters.error());
    for (const double count : counts) CHECK(std::isnan(count));
  } else if (!std::isnan(counts[kInstructions])) {
    CHECK(counts[kInstructions] > 1'000'000);
  }
}

TEST_CASE("a measurement is uncertain while samples are few, scattered or alike their neighbours") {
  std::vector<double> samples;
  CHECK(std::isinf(relative_uncertainty(samples)));
  for (int i = 0; i < 200; ++i) samples.push_back(1.0 + 0.001 * ((i * 7919) % 100));
  const double scattered = relative_uncertainty(samples);
  CHECK(scattered > 0.002);
  CHECK(scattered < 0.02);
  std::vector<double> drifting;
  for (int i = 0; i < 200; ++i) drifting.push_back(1.0 + 0.0005 * i);
  CHECK(relative_uncertainty(drifting) > 2 * scattered);
}

}  // namespace
}  // namespace ferry::device
