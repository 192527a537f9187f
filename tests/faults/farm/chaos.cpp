#include "tests/faults/farm/chaos.h"

#include <signal.h>

#include <algorithm>
#include <thread>

namespace ferry::test {
namespace {

constexpr const char* kSelector = "tag:busy?length=3s";
constexpr int kHoldMs = 1000;
// As long as to be given up by a tracker, and to miss the end of a lease.
constexpr double kStopSeconds = 15;
// A client whose board has been out of reach may have to wait for retransmissions.
constexpr std::chrono::seconds kPatience{60};

}  // namespace

RealFarmOptions Chaos::options_of(const ChaosOptions& options) {
  RealFarmOptions farm = farm_of(kBoards, options.database, options.trackers);
  farm.busy = kBoards;
  farm.client_hosts = options.has_network ? kClients : 0;
  return farm;
}

Chaos::Chaos(unsigned seed, ChaosOptions options)
    : options_(options), random_(seed), farm_(options_of(options)), clients_(kClients) {
  kinds_ = {{4, &Chaos::kill_tracker, 0, options.trackers},
            {4, &Chaos::kill_board, 0, kBoards},
            {4, &Chaos::kill_client, 0, kClients},
            {1, &Chaos::stop_client, 0, kClients},
            {1, &Chaos::stop_board, 0, kBoards}};
  if (options.trackers > 1) kinds_.push_back({1, &Chaos::stop_tracker, 0, options.trackers});
  if (options.database == Database::postgres) kinds_.push_back({1, &Chaos::stop_database_briefly, 0, 1});
  if (options.has_network) {
    kinds_.push_back({3, &Chaos::isolate_host, 1, farm_.network().hosts() - 1});
    kinds_.push_back({3, &Chaos::lose_path, 1, farm_.network().hosts() - 1});
  } else {
    // Two boards reach the tracker directly, and one over a link that is cut.
    link_ = std::make_unique<SlowLink>(farm_.access().trackers[0].port, LinkSpeed{std::chrono::milliseconds(0), 1e9});
    kinds_.push_back({4, &Chaos::cut_link, 0, 1});
  }
  for (std::size_t i = 0; i < kBoards; ++i) start_board(i);
  farm_.wait_for_boards(kBoards);
  for (std::size_t i = 0; i < kClients; ++i) start_client(i);
}

void Chaos::run(double seconds, double database_gone) {
  // So that each kind of fault that lasts occurs in a short run as well.
  stop_client(0);
  stop_board(1);
  if (options_.has_network) {
    isolate_host(farm_.client_host(1));
    lose_path(farm_.board_host(0));
  }
  if (options_.trackers > 1) isolate_host(farm_.tracker_host(0));
  const auto begin = Clock::now();
  bool was_gone = options_.database != Database::postgres;
  while (seconds_since(begin) < seconds) {
    // Two trackers and their database would otherwise hardly ever be well at the same time.
    std::this_thread::sleep_for(std::chrono::milliseconds(draw(200, 900)) * static_cast<int>(options_.trackers));
    repair_what_is_due(false);
    do_harm();
    if (seconds_since(begin) > 3 && !std::exchange(was_gone, true)) stop_database(database_gone);
  }
  repair_what_is_due(true);
}

void Chaos::wait_until_all_are_served() const {
  const auto begin = Clock::now();
  for (const auto& client : clients_) {
    const auto is_served = [&, before = client->leases().size()] {
      const std::vector<LeaseReport> leases = client->leases();
      return std::any_of(leases.begin() + static_cast<std::ptrdiff_t>(std::min(before, leases.size())), leases.end(),
                         [](const LeaseReport& lease) { return !lease.calls.empty(); });
    };
    while (!is_served()) {
      REQUIRE_MESSAGE(Clock::now() - begin < kPatience, "a client got no board after everything was repaired:\n"
                                                            << client->process().output());
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
}

std::vector<LeaseReport> Chaos::finish() {
  for (std::size_t i = 0; i < options_.trackers; ++i)
    CHECK_MESSAGE(!farm_.tracker(i).has_ended(), "a tracker has ended by itself:\n" << farm_.tracker(i).output());
  for (std::size_t i = 0; i < kBoards; ++i)
    CHECK_MESSAGE(!farm_.board(i).has_ended(), "a board has ended by itself:\n" << farm_.board(i).output());
  for (const auto& client : clients_) client->process().signal(SIGTERM);
  for (const auto& client : clients_) CHECK(client->process().wait(kPatience) == 0);
  for (const auto& client : clients_) {
    ended_.push_back(client->leases());
    for (const LeaseReport& lease : ended_.back())
      CHECK_MESSAGE(lease.over > 0, "a request of a client that was not killed got no answer");
  }
  std::vector<LeaseReport> all;
  for (const auto& leases : ended_) all.insert(all.end(), leases.begin(), leases.end());
  return all;
}

bool Chaos::claim(const std::string& what, const char* kind) {
  if (!harmed_.insert(what).second) return false;
  ++harm_[kind];
  return true;
}

void Chaos::repair_later(double seconds, const std::string& what, std::function<void()> work) {
  harmed_.insert(what);
  repairs_.push_back({Clock::now() + std::chrono::milliseconds(static_cast<int>(seconds * 1000)),
                      [this, what, work = std::move(work)] {
                        harmed_.erase(what);
                        work();
                      }});
}

void Chaos::repair_what_is_due(bool is_all) {
  do {
    // Repairs may fail, and are then repeated later.
    std::vector<Repair> due;
    std::erase_if(repairs_, [&](Repair& repair) {
      const bool is_due = is_all || repair.at <= Clock::now();
      if (is_due) due.push_back(std::move(repair));
      return is_due;
    });
    for (const Repair& repair : due) repair.work();
  } while (is_all && !repairs_.empty());
}

void Chaos::do_harm() {
  int weights = 0;
  for (const Kind& kind : kinds_) weights += kind.weight;
  int drawn = draw(0, weights - 1);
  for (const Kind& kind : kinds_) {
    drawn -= kind.weight;
    if (drawn >= 0) continue;
    return (this->*kind.harm)(kind.first + static_cast<std::size_t>(draw(0, static_cast<int>(kind.count) - 1)));
  }
}

double Chaos::partition_seconds() { return draw(0, 1) == 0 ? draw(300, 3000) * 1e-3 : kStopSeconds; }

void Chaos::start_tracker(std::size_t tracker) {
  try {
    farm_.start_tracker(tracker);
  } catch (const std::exception&) {
    // Its database cannot be reached.
    repair_later(1, "tracker" + std::to_string(tracker), [this, tracker] { start_tracker(tracker); });
  }
}

void Chaos::kill_tracker(std::size_t tracker) {
  const std::string name = "tracker" + std::to_string(tracker);
  if (!claim(name, "trackers killed")) return;
  farm_.kill_tracker(tracker);
  repair_later(draw(0, 1500) * 1e-3, name, [this, tracker] { start_tracker(tracker); });
}

void Chaos::stop_tracker(std::size_t tracker) {
  const std::string name = "tracker" + std::to_string(tracker);
  if (!claim(name, "trackers stopped")) return;
  signal_host(farm_.tracker(tracker), SIGSTOP);
  repair_later(kStopSeconds, name, [this, tracker] { signal_host(farm_.tracker(tracker), SIGCONT); });
}

void Chaos::start_board(std::size_t board) {
  farm_.start_board(board, link_ && board == kBoards - 1 ? link_->address() : "");
}

void Chaos::kill_board(std::size_t board) {
  const std::string name = "board" + std::to_string(board);
  if (!claim(name, "boards killed")) return;
  farm_.kill_board(board);
  repair_later(draw(0, 1000) * 1e-3, name, [this, board] { start_board(board); });
}

void Chaos::stop_board(std::size_t board) {
  const std::string name = "board" + std::to_string(board);
  if (!claim(name, "boards stopped")) return;
  signal_host(farm_.board(board), SIGSTOP);
  repair_later(kStopSeconds, name, [this, board] { signal_host(farm_.board(board), SIGCONT); });
}

void Chaos::start_client(std::size_t client) {
  clients_[client] =
      std::make_unique<FaultClient>(farm_, "client" + std::to_string(++started_), kSelector, kHoldMs,
                                    FaultClient::Leases::many, farm_.namespace_of(farm_.client_host(client)));
}

void Chaos::kill_client(std::size_t client) {
  if (harmed_.contains("client" + std::to_string(client))) return;
  ++harm_["clients killed"];
  clients_[client]->process().signal(SIGKILL);
  clients_[client]->process().wait();
  ended_.push_back(clients_[client]->leases());
  start_client(client);
}

void Chaos::stop_client(std::size_t client) {
  const std::string name = "client" + std::to_string(client);
  if (!claim(name, "clients stopped")) return;
  clients_[client]->process().signal(SIGSTOP);
  repair_later(kStopSeconds, name, [this, client] { clients_[client]->process().signal(SIGCONT); });
}

void Chaos::cut_link(std::size_t) {
  ++harm_["links cut"];
  link_->cut();
}

void Chaos::isolate_host(std::size_t host) {
  const std::string name = "host" + std::to_string(host);
  if (!claim(name, "hosts isolated")) return;
  farm_.network().set_link(host, false);
  repair_later(partition_seconds(), name, [this, host] { farm_.network().set_link(host, true); });
}

void Chaos::lose_path(std::size_t from) {
  const auto last = static_cast<int>(farm_.network().hosts() - 1);
  std::size_t to = from;
  while (to == from) to = static_cast<std::size_t>(draw(1, last));
  const std::string name = "path" + std::to_string(from) + "-" + std::to_string(to);
  if (!claim(name, "paths lost")) return;
  farm_.network().set_path(from, to, false);
  repair_later(partition_seconds(), name, [this, from, to] { farm_.network().set_path(from, to, true); });
}

void Chaos::stop_database(double seconds) {
  if (!claim("database", "databases stopped")) return;
  farm_.postgres().stop();
  repair_later(seconds, "database", [this] { farm_.postgres().start(); });
}

void Chaos::stop_database_briefly(std::size_t) { stop_database(draw(500, 4000) * 1e-3); }

}  // namespace ferry::test
