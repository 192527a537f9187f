// A store at a farm behind a link on which the parts of a message take longer than the silence after which both ends
// give a connection up.
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "host/gate/farm_store/farm_store.h"
#include "tests/support/farm/memory_store.h"
#include "tests/support/farm/temporary_folder.h"
#include "tests/support/farm_peers/running_tracker.h"
#include "tests/support/slow_link.h"

namespace ferry::test {
namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::vector<std::uint8_t>;

Bytes contents(std::size_t count) {
  Bytes bytes(count);
  std::uint32_t state = 7;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  return bytes;
}

// Calls use(a store behind a link that delivers so many bytes a second), and returns how many seconds that takes.
double seconds_behind_link(farm::FarmAccess farm, double bytes_per_second,
                           const std::function<void(gate::Store&)>& use) {
  const SlowLink link(farm.trackers.at(0).port, {std::chrono::milliseconds(1), bytes_per_second});
  farm.trackers.at(0).port = static_cast<std::uint16_t>(link.port());
  const auto begin = Clock::now();
  use(*gate::open_farm_store(farm));
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

TEST_CASE("what arrives slowly arrives: every byte is a sign of life, for the client and the tracker" *
          doctest::test_suite("waiting")) {
  const TemporaryFolder folder;
  farm::TrackerOptions options;
  options.modules = folder.file("farm.modules.db");
  RunningTracker tracker(std::make_unique<MemoryStore>(), std::move(options));
  const farm::FarmAccess anna = tracker.add_client("anna");
  // Each is in one message, which takes 14 s.
  const Bytes answer = contents(farm::wire::kMaxPieceReceived), request = contents(farm::wire::kMaxPieceSent);
  gate::open_farm_store(anna)->put(answer);
  double seconds_of_request = 0;
  std::thread sender([&] {
    seconds_of_request = seconds_behind_link(anna, static_cast<double>(request.size()) / 14,
                                             [&](gate::Store& store) { store.put(request); });
  });
  const double seconds_of_answer =
      seconds_behind_link(anna, static_cast<double>(answer.size()) / 14,
                          [&](gate::Store& store) { CHECK(store.get(blake2b(answer)) == answer); });
  sender.join();
  CHECK(gate::open_farm_store(anna)->get(blake2b(request)) == request);
  for (const double seconds : {seconds_of_request, seconds_of_answer}) {
    CHECK(seconds > farm::wire::kSilence.count() + 1.5);
    CHECK(seconds < 25);  // it came at the first try
  }
}

}  // namespace
}  // namespace ferry::test
