// Measures how long decisions take with 10,000 boards and 1,000 requests that wait.
#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "farm/core/lease/limits.h"
#include "tests/support/seeded.h"
#include "tests/unit/farm/core/lease/machine_driver.h"

namespace ferry::test {
namespace {

constexpr std::uint64_t kBoards = 10'000, kWaiting = 1'000, kModels = 20;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Calls the machine directly: the driver's own records would take longer than the machine.
class LargeFarm {
 public:
  explicit LargeFarm(std::uint64_t boards = kBoards) : machine_({}, farm::TrackerTerm{1}, {false}, now_) {
    for (std::uint64_t number = 0; number < boards; ++number) {
      farm::BoardJoined joined;
      joined.connection = board_link(number);
      joined.board = board_id(number);
      joined.boot_id = number + 1;
      joined.description.name = "b" + std::to_string(number);
      joined.description.model = "m" + std::to_string(number % kModels);
      handle(farm::BoardEnrolled{joined.board, joined.description.name, {}, "", false});
      handle(joined);
    }
  }

  void submit(const std::vector<std::string>& selectors) {
    const std::uint64_t id = ++last_request_;
    farm::Request request = MachineDriver::request(id, "h" + std::to_string(id % 50), selectors);
    request.length = hours(1);
    request.priority = static_cast<std::uint32_t>(id % 10);
    handle(farm::RequestSubmitted{client_link(id), request});
  }
  // Returns the time that the machine takes for this event.
  double handle(const farm::Event& event) {
    const double start = processor_seconds();
    const std::vector<farm::Action> actions = machine_.handle(event, now_);
    const double taken = processor_seconds() - start;
    for (const farm::Action& action : actions) {
      if (const auto* persist = std::get_if<farm::Persist>(&action)) {
        handle(farm::Persisted{persist->commit});
      } else if (const auto* announce = std::get_if<farm::AnnounceLease>(&action)) {
        handle(farm::BoardAcknowledged{announce->connection, announce->announcement.key, 0});
      } else if (const auto* granted = std::get_if<farm::TellGranted>(&action)) {
        running_.push_back(granted->lease);
        ++granted_;
      }
    }
    return taken;
  }
  double release_any(Seeded& seeded) {
    const std::size_t index = (seeded.draw() << 8U ^ seeded.draw()) % running_.size();
    std::swap(running_[index], running_.back());
    const farm::LeaseId lease = running_.back();
    running_.pop_back();
    return handle(farm::LeaseReleased{lease});
  }
  double heartbeat(std::uint64_t number) {
    return handle(farm::BoardHeartbeat{board_link(number), {}, std::nullopt, false, 0});
  }
  // Returns the time that the machine takes to find out all places in the queue.
  double list_queue() const {
    const double start = processor_seconds();
    CHECK(machine_.queue(now_).size() == waiting());
    return processor_seconds() - start;
  }
  void pass(farm::Duration duration) { now_ += duration; }
  std::size_t running() const { return running_.size(); }
  std::uint64_t waiting() const { return last_request_ - granted_; }

 private:
  farm::Time now_{};
  farm::LeaseMachine machine_;
  std::uint64_t last_request_ = 0, granted_ = 0;
  std::vector<farm::LeaseId> running_;
};

TEST_CASE("with 10,000 boards and 1,000 requests that wait, a decision takes less than a millisecond on average") {
  Seeded seeded(3);
  LargeFarm farm;
  const auto draw_model = [&] { return "m" + std::to_string(seeded.draw() % kModels); };
  while (farm.running() < kBoards) farm.submit({"name!=none"});
  for (std::uint64_t i = 0; i < kWaiting; ++i)
    i % 20 == 0 ? farm.submit({draw_model(), draw_model()}) : farm.submit({draw_model()});
  REQUIRE(farm.waiting() == kWaiting);

  constexpr int kDecisions = 2000;
  std::vector<double> decisions;
  double heartbeats = 0;
  for (int i = 0; i < kDecisions; ++i) {
    farm.pass(std::chrono::milliseconds(2));
    decisions.push_back(farm.release_any(seeded));
    heartbeats += farm.heartbeat(seeded.draw() % kBoards);
    while (farm.waiting() < kWaiting) farm.submit({draw_model()});
  }
  std::sort(decisions.begin(), decisions.end());
  double sum = 0;
  for (const double seconds : decisions) sum += seconds;
  const double mean = sum / kDecisions;
  MESSAGE("decision: mean ", mean * 1e6, " us, median ", decisions[kDecisions / 2] * 1e6, " us, 99th percentile ",
          decisions[kDecisions * 99 / 100] * 1e6, " us; heartbeat: ", heartbeats / kDecisions * 1e6, " us");
#ifdef NDEBUG
  CHECK(mean < 1e-3);
#endif
}

// Each of the requests asks for other boards, so that each competes with all others in another way.
TEST_CASE("a full queue of requests for different boards is listed within two seconds") {
  constexpr std::uint64_t kSmall = 100;
  Seeded seeded(4);
  LargeFarm farm(kSmall);
  while (farm.running() < kSmall) farm.submit({"name!=none"});
  while (farm.waiting() < farm::kMaxWaiting) {
    std::vector<std::string> selectors;
    for (std::uint64_t slot = 0; slot < farm::kMaxSlots; ++slot)
      selectors.push_back("b" + std::to_string((seeded.draw() % 6) * 16 + slot));
    farm.submit(selectors);
  }
  const double listing = farm.list_queue();
  farm.pass(std::chrono::seconds(1));
  const double round = farm.release_any(seeded);
  MESSAGE("listing ", farm.waiting(), " requests: ", listing, " s; a round: ", round, " s");
#ifdef NDEBUG
  CHECK(listing < 2);
  CHECK(round < 2);
#endif
}

}  // namespace
}  // namespace ferry::test
