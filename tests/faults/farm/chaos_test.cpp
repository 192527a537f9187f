// Trackers, boards and clients that are killed, stopped and cut off at random while leases go on. Takes 25 s, or as
// many as FERRY_FARM_FAULT_SECONDS says; FERRY_FARM_FAULT_SEED repeats a schedule, as far as its faults go.
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include "tests/faults/farm/fault_farm.h"
#include "tests/support/slow_link.h"

namespace ferry::test {
namespace {

constexpr std::size_t kBoards = 3, kClients = 6;
constexpr double kLeaseSeconds = 3;
constexpr const char* kSelector = "tag:busy?length=3s";
constexpr int kHoldMs = 1000;
// As long as to be given up by a tracker, and to miss the end of a lease.
constexpr double kStopSeconds = 15;

unsigned number_of(const char* name, unsigned otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

class Chaos {
 public:
  explicit Chaos(unsigned seed) : random_(seed), farm_(options()) {
    const auto port = farm_.access().trackers[0].port;
    // Two boards reach the tracker directly, and one over a link that is cut.
    link_ = std::make_unique<SlowLink>(port, LinkSpeed{std::chrono::milliseconds(0), 1e9});
    for (std::size_t i = 0; i < kBoards; ++i) start_board(i);
    farm_.wait_for_boards(kBoards);
    clients_.resize(kClients);
    for (std::size_t i = 0; i < kClients; ++i) start_client(i);
  }

  void run(double seconds) {
    // So that each kind of fault occurs in a short run as well.
    stop_client(0);
    stop_board(1);
    const auto begin = Clock::now();
    while (seconds_since(begin) < seconds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(draw(200, 900)));
      do_what_is_due(false);
      do_harm();
    }
    do_what_is_due(true);
  }

  // Ends the clients, each after its lease; returns what all of them have seen.
  std::vector<LeaseReport> finish() {
    for (const auto& client : clients_) {
      // One that has only just been started does not handle the signal yet.
      for (int i = 0; i < 2000 && client->leases().empty(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      client->process().signal(SIGTERM);
    }
    for (const auto& client : clients_) CHECK(client->process().wait() == 0);
    std::vector<LeaseReport> all;
    for (const auto& client : clients_) {
      ended_.push_back(client->leases());
      for (const LeaseReport& lease : ended_.back())
        CHECK_MESSAGE(lease.over > 0, "a request of a client that was not killed got no answer");
    }
    for (const auto& leases : ended_) all.insert(all.end(), leases.begin(), leases.end());
    return all;
  }

  const RealFarm& farm() const { return farm_; }
  const std::map<std::string, int>& harm() const { return harm_; }

 private:
  struct Duty {
    Clock::time_point at;
    std::function<void()> work;
  };

  static RealFarmOptions options() {
    RealFarmOptions options = farm_of(kBoards);
    options.busy = kBoards;
    return options;
  }

  int draw(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }

  void later(double seconds, std::function<void()> work) {
    duties_.push_back({Clock::now() + std::chrono::milliseconds(static_cast<int>(seconds * 1000)), std::move(work)});
  }

  void do_what_is_due(bool is_all) {
    for (std::size_t i = 0; i < duties_.size();) {
      if (!is_all && duties_[i].at > Clock::now()) {
        ++i;
        continue;
      }
      const auto work = std::move(duties_[i].work);
      duties_.erase(duties_.begin() + static_cast<std::ptrdiff_t>(i));
      work();
    }
  }

  void do_harm() {
    switch (draw(0, 5)) {
      case 0: return kill_tracker();
      case 1: return kill_board(static_cast<std::size_t>(draw(0, kBoards - 1)));
      case 2: return kill_client(static_cast<std::size_t>(draw(0, kClients - 1)));
      case 3: return draw(0, 3) == 0 ? stop_client(static_cast<std::size_t>(draw(0, kClients - 1))) : void();
      case 4: return draw(0, 3) == 0 ? stop_board(static_cast<std::size_t>(draw(0, kBoards - 1))) : void();
      default: ++harm_["links cut"]; return link_->cut();
    }
  }

  void kill_tracker() {
    if (std::exchange(has_no_tracker_, true)) return;
    ++harm_["trackers killed"];
    farm_.kill_tracker();
    later(draw(0, 1500) * 1e-3, [this] {
      farm_.start_tracker();
      has_no_tracker_ = false;
    });
  }

  void start_board(std::size_t board) { farm_.start_board(board, board == kBoards - 1 ? link_->address() : ""); }

  void kill_board(std::size_t board) {
    if (!harmed_.insert("board" + std::to_string(board)).second) return;
    ++harm_["boards killed"];
    farm_.kill_board(board);
    later(draw(0, 1000) * 1e-3, [this, board] {
      start_board(board);
      harmed_.erase("board" + std::to_string(board));
    });
  }

  void stop_board(std::size_t board) {
    if (!harmed_.insert("board" + std::to_string(board)).second) return;
    ++harm_["boards stopped"];
    signal_host(farm_.board(board), SIGSTOP);
    later(kStopSeconds, [this, board] {
      signal_host(farm_.board(board), SIGCONT);
      harmed_.erase("board" + std::to_string(board));
    });
  }

  void start_client(std::size_t client) {
    clients_[client] = std::make_unique<FaultClient>(farm_, "client" + std::to_string(++started_), kSelector, kHoldMs,
                                                     FaultClient::Leases::many);
  }

  void kill_client(std::size_t client) {
    if (harmed_.contains("client" + std::to_string(client))) return;
    ++harm_["clients killed"];
    clients_[client]->process().signal(SIGKILL);
    clients_[client]->process().wait();
    ended_.push_back(clients_[client]->leases());
    start_client(client);
  }

  void stop_client(std::size_t client) {
    if (!harmed_.insert("client" + std::to_string(client)).second) return;
    ++harm_["clients stopped"];
    clients_[client]->process().signal(SIGSTOP);
    later(kStopSeconds, [this, client] {
      clients_[client]->process().signal(SIGCONT);
      harmed_.erase("client" + std::to_string(client));
    });
  }

  std::mt19937 random_;
  RealFarm farm_;
  std::unique_ptr<SlowLink> link_;
  std::vector<std::unique_ptr<FaultClient>> clients_;
  std::vector<std::vector<LeaseReport>> ended_;
  std::deque<Duty> duties_;
  std::set<std::string> harmed_;
  std::map<std::string, int> harm_;
  bool has_no_tracker_ = false;
  int started_ = 0;
};

TEST_CASE("two leases that one board serves at the same time are found") {
  const LeaseReport first{"b0", 1, 9, "", {{2, 2.1}, {4, 4.1}}};
  CHECK(find_overlap({first, {"b1", 1, 9, "", {{3, 3.1}}}}).empty());
  CHECK(find_overlap({first, {"b0", 4, 9, "", {{4.2, 4.3}, {5, 5.1}}}}).empty());
  // Such an answer may have waited for a client that was stopped.
  CHECK(find_overlap({first, {"b0", 1, 9, "", {{1.5, 3.1}}}}).empty());
  CHECK(!find_overlap({first, {"b0", 1, 9, "", {{3, 3.1}}}}).empty());
}

TEST_CASE("through kills, stops and cuts no board serves two leases, none outlives its time, and all requests end") {
  const unsigned seed = number_of("FERRY_FARM_FAULT_SEED", static_cast<unsigned>(std::random_device()()));
  MESSAGE("FERRY_FARM_FAULT_SEED=" << seed);
  Chaos chaos(seed);
  chaos.run(number_of("FERRY_FARM_FAULT_SECONDS", 20));
  const std::vector<LeaseReport> leases = chaos.finish();
  const std::string overlap = find_overlap(leases);
  CHECK_MESSAGE(overlap.empty(), overlap);
  std::size_t calls = 0, served = 0;
  std::map<std::string, int> failures;
  for (const LeaseReport& lease : leases) {
    calls += lease.calls.size();
    served += lease.calls.empty() ? 0 : 1;
    if (!lease.failure.empty()) ++failures[lease.failure.substr(0, 120)];
    if (!lease.calls.empty())
      CHECK_MESSAGE(
          lease.calls.back().sent < lease.granted + kLeaseSeconds,
          lease.board << " served a call " << lease.calls.back().sent - lease.granted << " s after the grant");
  }
  std::string summary = std::to_string(calls) + " calls in " + std::to_string(served) + " of " +
                        std::to_string(leases.size()) + " leases";
  for (const auto& [what, count] : chaos.harm()) summary += "\n" + std::to_string(count) + " " + what;
  for (const auto& [what, count] : failures) summary += "\n" + std::to_string(count) + " times" + what;
  MESSAGE(summary);
  CHECK(served >= 5);

  // Nothing has remained locked.
  chaos.farm().wait_for_boards(kBoards);
  for (std::size_t i = 0; i < kBoards; ++i) {
    FaultClient last(chaos.farm(), "last" + std::to_string(i), "b" + std::to_string(i), 10, FaultClient::Leases::one);
    CHECK(last.wait_for_call().board == "b" + std::to_string(i));
    CHECK(last.process().wait() == 0);
  }
}

}  // namespace
}  // namespace ferry::test
