// Tests that a kernel in a process of its own, with the same inputs each time, takes at most 2% longer than in the
// session's process: its tensors are in memory that processes share, which costs nothing where that has huge pages.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ferry/compile.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"

using namespace ferry;
using namespace ferry::test;

namespace {

constexpr double kMostLonger = 0.02;
constexpr int kTurns = 40;
constexpr std::size_t kFewestSamples = 10;

// The least time of one way: of all samples, and of those in which nothing else had the core.
struct Least {
  double of_all = std::numeric_limits<double>::infinity(), seconds = of_all;
  std::size_t samples = 0;

  void add(const Timing& timing) {
    for (std::size_t i = 0; i < timing.seconds.size(); ++i) {
      of_all = std::min(of_all, timing.seconds[i]);
      if (timing.switches.at(i) != 0) continue;
      seconds = std::min(seconds, timing.seconds[i]);
      ++samples;
    }
  }
};

using MakeInputs = std::function<std::vector<Argument>()>;

void check(const Device& device, const std::string& name, const std::string& source, const MakeInputs& inputs) {
  const Module module = device.load(compile(source, target_of(device)));
  const Function function = module[name];
  BenchOptions options{.number = 1, .repeat = 8, .min_repeat_ms = 0, .warmup_ms = 5};
  options.threads = 1;
  options.cores = {0};  // one process would stay on its core, and the other move
  Least isolated, here;
  bool small_pages = false;
  for (int turn = 0; turn < kTurns; ++turn) {
    // Which pages of memory the system gives them makes some percent.
    const std::vector<Argument> arguments = function.on_device(inputs());
    for (const bool second : {false, true}) {
      options.isolated = second == (turn % 2 == 0);
      const Timing timing = function.measure(arguments, options);
      (options.isolated ? isolated : here).add(timing);
      REQUIRE((timing.isolation != TimingIsolation::none) == options.isolated);
      small_pages = small_pages || timing.small_pages;
    }
  }
  MESSAGE(name << ": isolated " << isolated.of_all * 1e3 << " ms, in the session's process " << here.of_all * 1e3
               << " ms, ratio " << isolated.of_all / here.of_all << "; undisturbed samples: " << isolated.samples << " "
               << isolated.seconds * 1e3 << " ms, " << here.samples << " " << here.seconds * 1e3 << " ms, ratio "
               << isolated.seconds / here.seconds);
  if (small_pages) {
    MESSAGE(name << ": skipped: small pages, the system has no huge ones for shared memory");
  } else if (std::min(isolated.samples, here.samples) < kFewestSamples) {
    MESSAGE(name << ": skipped: something else runs on this machine in almost all samples");
  } else {
    CHECK(isolated.seconds <= (1 + kMostLonger) * here.seconds);
  }
}

struct Here {
  ListeningServer server{
      std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/static/rpc_server", {}, {"--threads", "1", "--quiet"}};
  Device device = connect(server.address());

  DeviceTensor random(Shape shape) const { return device.filled(DType::f32, std::move(shape), FillKind::random, 1); }
};

}  // namespace

TEST_CASE("an isolated sum of two large tensors takes no longer than one that is not isolated") {
  const Here here;
  check(here.device, "add", "def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }",
        [&] { return std::vector<Argument>{here.random({4'000'000}), here.random({4'000'000})}; });
}

TEST_CASE("an isolated product takes no longer than one that is not isolated") {
  const Here here;
  check(here.device, "mm", "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
        [&] { return std::vector<Argument>{here.random({1024, 1024}), here.random({1024, 1024})}; });
}

TEST_CASE("isolated reads at random positions take no longer than those that are not isolated") {
  const Here here;
  constexpr std::int64_t kFrom = 4'000'000, kCount = 1'000'000;
  std::mt19937 random(7);
  std::vector<std::int32_t> positions;
  for (std::int64_t i = 0; i < kCount; ++i) positions.push_back(static_cast<std::int32_t>(random() % kFrom));
  check(here.device, "pick", "def pick(float(N) A, int32(M) I) -> (B) { B(i) = A(I(i)) }",
        [&] { return std::vector<Argument>{here.random({kFrom}), here.device.put(view(positions, {kCount}))}; });
}
