// The turns of kernels, with kernels whose gains are known.
#include "host/tune/network/kernel_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace ferry::tune;

namespace {

// A kernel of which each turn finds half of what is still to be gained, up to a share of its time.
struct Simulated {
  QueuedKernel queued;
  double gain = 0;
  int turns = 0;
  double share() const { return 1 - gain * (1 - std::exp2(-turns)); }
  double gained() const { return queued.by_default * (1 - share()); }
};

std::vector<QueuedKernel> queued(const std::vector<Simulated>& kernels) {
  std::vector<QueuedKernel> all;
  for (const Simulated& kernel : kernels) all.push_back(kernel.queued);
  return all;
}

double gained(const std::vector<Simulated>& kernels) {
  double all = 0;
  for (const Simulated& kernel : kernels) all += kernel.gained();
  return all;
}

void take_turns(KernelQueue& queue, std::vector<Simulated>& kernels, int turns) {
  for (int turn = 0; turn < turns; ++turn) {
    const auto next = queue.next();
    if (!next) return;
    ++kernels[*next].turns;
    queue.report(*next, kernels[*next].share());
  }
}

// One long kernel that can become much faster, one that cannot, and many short ones.
std::vector<Simulated> network() {
  std::vector<Simulated> kernels{{{10e-3, 4e-3}, 0.4}, {{10e-3, 2e-3}, 0}};
  for (int i = 0; i < 11; ++i) kernels.push_back({{1e-3, 0.2e-3}, i % 3 == 0 ? 0.3 : 0.0});
  return kernels;
}

}  // namespace

TEST_CASE("the first turn goes to the kernel of which the estimate leaves the most, and each has its turn") {
  std::vector<Simulated> kernels = network();
  KernelQueue queue(queued(kernels));
  CHECK(queue.next() == 1);
  take_turns(queue, kernels, 40);
  for (const Simulated& kernel : kernels) CHECK(kernel.turns > 0);
}

TEST_CASE("turns go where they find something: more is gained than by giving each kernel as many") {
  for (const int turns : {13, 26, 39}) {
    std::vector<Simulated> chosen = network(), equal = network();
    KernelQueue queue(queued(chosen));
    take_turns(queue, chosen, turns);
    for (int turn = 0; turn < turns; ++turn) ++equal[static_cast<std::size_t>(turn) % equal.size()].turns;
    CHECK_MESSAGE(gained(chosen) >= 0.97 * gained(equal), turns);
    if (turns == 13) CHECK(gained(chosen) > 1.3 * gained(equal));
  }
}

TEST_CASE("kernels whose estimate leaves next to nothing are pruned, and the search ends when nothing more is found") {
  std::vector<Simulated> kernels{{{10e-3, 0}, 0.1}, {{10e-3, 9.99e-3}, 0.5}, {{1e-6, 0}, 0.5}};
  KernelQueue queue(queued(kernels));
  CHECK_FALSE(queue.is_pruned(0));
  CHECK(queue.is_pruned(1));
  CHECK(queue.is_pruned(2));
  take_turns(queue, kernels, 1000);
  CHECK_FALSE(queue.next().has_value());
  CHECK(kernels[0].turns > 5);
  CHECK(kernels[0].turns < 50);
  CHECK(kernels[1].turns == 0);
}

TEST_CASE("a kernel that has ended gets no turn, and a network without kernels has none") {
  KernelQueue queue({{1, 0}, {2, 0}});
  CHECK(queue.next() == 1);
  queue.end(1);
  CHECK(queue.next() == 0);
  queue.end(0);
  CHECK_FALSE(queue.next().has_value());
  CHECK_FALSE(KernelQueue({}).next().has_value());
}

TEST_CASE("another algorithm that estimates call slower has a turn while more is expected of it than of others") {
  // 5 ms of 10 may be gained by schedules, and 10 - 4.6 ms by the other algorithm.
  KernelQueue queue({{10e-3, 5e-3}, {1e-3, 0.5e-3}, {12e-3, 4.6e-3, 0}});
  CHECK(queue.next() == 2);
  SUBCASE("one that is much slower gets no other turn") {
    queue.report(2, 20e-3 / 12e-3);
    for (int turn = 0; turn < 50; ++turn) {
      const auto next = queue.next();
      CHECK(next != 2);
      if (next) queue.report(*next, 1);
    }
  }
  SUBCASE("one that is faster gets the next turn, and schedules of the slower one fewer") {
    queue.report(2, 6e-3 / 12e-3);
    // 0.7 ms below 6 may still be gained by it, and 1 ms by schedules of the default's algorithm.
    CHECK(queue.next() == 0);
    queue.report(0, 1);
    CHECK(queue.next() == 2);
    int turns = 0;
    for (int turn = 0; turn < 50; ++turn) {
      const auto next = queue.next();
      if (!next) break;
      if (next == 0U) ++turns;
      queue.report(*next, next == 2U ? 0.5 : 1);
    }
    CHECK(turns == 0);
  }
}

TEST_CASE("an algorithm that estimates leave nothing is pruned, and its time is no part of the network's") {
  const KernelQueue queue({{10e-3, 5e-3}, {13e-3, 9.99e-3, 0}, {0.011e-3, 0}});
  CHECK(queue.is_pruned(1));
  // 11 us are 0.1% of 10 ms.
  CHECK(queue.is_pruned(2));
  CHECK_FALSE(queue.is_pruned(0));
}
