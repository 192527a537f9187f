// Measures how long decisions of the lease machine take: with 10,000 boards and 1,000 requests that wait, and with a
// full queue of requests each of which asks for other boards, so that each competes with all others in another way.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "farm/core/lease/lease_machine.h"
#include "farm/core/lease/limits.h"
#include "tests/support/seeded.h"

namespace {

using namespace ferry;
using test::Seeded;

constexpr std::uint64_t kBoards = 10'000, kWaiting = 1'000, kModels = 20;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void expect(bool is_met, const char* what) {
  if (is_met) return;
  std::fprintf(stderr, "ferry_decision_bench: expected %s\n", what);
  std::exit(1);
}

farm::BoardConnection board_link(std::uint64_t number) { return farm::BoardConnection{number}; }

class LargeFarm {
 public:
  explicit LargeFarm(std::uint64_t boards = kBoards) : machine_({}, farm::TrackerTerm{1}, {false}, now_) {
    for (std::uint64_t number = 0; number < boards; ++number) {
      farm::BoardJoined joined;
      joined.connection = board_link(number);
      joined.board = farm::BoardId{number};
      joined.boot_id = number + 1;
      joined.description.name = "b" + std::to_string(number);
      joined.description.model = "m" + std::to_string(number % kModels);
      handle(farm::BoardEnrolled{joined.board, joined.description.name, {}, "", false});
      handle(joined);
    }
  }

  void submit(const std::vector<std::string>& selectors) {
    const std::uint64_t id = ++last_request_;
    farm::Request request;
    request.id = farm::LeaseId{id};
    request.holder = "h" + std::to_string(id % 50);
    for (const std::string& selector : selectors) request.slots.push_back(farm::parse_selector(selector).value());
    request.length = request.wait = std::chrono::hours(1);
    request.priority = static_cast<std::uint32_t>(id % 10);
    handle(farm::RequestSubmitted{farm::ClientConnection{id}, request});
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
    expect(machine_.queue(now_).size() == waiting(), "each request that waits in the queue");
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

void measure_decisions() {
  Seeded seeded(3);
  LargeFarm farm;
  const auto draw_model = [&] { return "m" + std::to_string(seeded.draw() % kModels); };
  while (farm.running() < kBoards) farm.submit({"name!=none"});
  for (std::uint64_t i = 0; i < kWaiting; ++i)
    i % 20 == 0 ? farm.submit({draw_model(), draw_model()}) : farm.submit({draw_model()});
  expect(farm.waiting() == kWaiting, "1,000 requests that wait");

  constexpr int kDecisions = 2000;
  std::vector<double> decisions;
  double sum = 0, heartbeats = 0;
  for (int i = 0; i < kDecisions; ++i) {
    farm.pass(std::chrono::milliseconds(2));
    sum += decisions.emplace_back(farm.release_any(seeded));
    heartbeats += farm.heartbeat(seeded.draw() % kBoards);
    while (farm.waiting() < kWaiting) farm.submit({draw_model()});
  }
  std::sort(decisions.begin(), decisions.end());
  std::printf("| who gets a board that is free: mean | %.0f us |\n", sum / kDecisions * 1e6);
  std::printf("| median | %.0f us |\n", decisions[kDecisions / 2] * 1e6);
  std::printf("| 99th percentile | %.0f us |\n", decisions[kDecisions * 99 / 100] * 1e6);
  std::printf("| a heartbeat | %.1f us |\n", heartbeats / kDecisions * 1e6);
}

void measure_full_queue() {
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
  std::printf("| a listing of %zu requests | %.2f s |\n", static_cast<std::size_t>(farm.waiting()), farm.list_queue());
  farm.pass(std::chrono::seconds(1));
  std::printf("| a decision among them | %.2f s |\n", farm.release_any(seeded));
}

}  // namespace

int main() {
  std::printf("| decision | processor time |\n| --- | --- |\n");
  measure_decisions();
  measure_full_queue();
  return 0;
}
