#include <algorithm>
#include <deque>
#include <thread>

#include "bench/farm/figures.h"
#include "bench/farm/swarm.h"
#include "bench/support/comparison.h"
#include "farm/client/farm_client.h"

namespace ferry::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kBoards = 10'000, kClients = 1000, kBusy = 50;

TcpAddress tracker_of(const RealFarm& farm) { return farm.access().trackers[0]; }

double percentile(std::vector<double> values, double share) {
  if (values.empty()) throw std::runtime_error("expected leases, got none");
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void join_all(Swarm& swarm, std::size_t boards, seconds timeout) {
  if (swarm.run_until([&] { return swarm.boards_joined() == boards; }, timeout) < 0)
    throw std::runtime_error("expected " + std::to_string(boards) + " boards to join, got " +
                             std::to_string(swarm.boards_joined()));
}

void measure_lease_rate(const Programs& programs, Report& report, Database database, std::size_t clients, double aim) {
  RealFarm farm({programs.ferry, programs.rpc_server, programs.slow_fsync, database, 0, clients, clients});
  Swarm swarm(tracker_of(farm), 4 * clients);
  for (std::size_t i = 0; i < clients; ++i) swarm.add_board(farm.board_key(i), milliseconds(0));
  join_all(swarm, clients, seconds(20));
  std::size_t leases = 0;
  SwarmClient::Habit habit{"tag:busy"};
  habit.ended = [&](const farm::wire::Ended&) { ++leases; };
  for (std::size_t i = 0; i < clients; ++i) swarm.add_client(farm.access().key, habit, milliseconds(0));
  swarm.run_for(seconds(1));
  const std::size_t before = leases;
  const auto begin = Clock::now();
  swarm.run_for(programs.duration);
  const double found =
      static_cast<double>(leases - before) / std::chrono::duration<double>(Clock::now() - begin).count();
  report.row(std::string("leases of simulated boards: ") + name_of(database) + ", " + std::to_string(clients) +
                 " clients and boards",
             text_of("%.0f/s", found), text_of("%.0f/s", aim), found >= aim, {{"per_second", found}});
}

}  // namespace

void measure_leases(const Programs& programs, Report& report) {
  measure_lease_rate(programs, report, Database::sqlite, 32, 500);
  measure_lease_rate(programs, report, Database::postgres, 32, 300);
}

void measure_query(const Programs& programs, Report& report) {
  constexpr std::size_t kListed = 100;
  RealFarm farm({programs.ferry, programs.rpc_server, programs.slow_fsync, Database::sqlite, 0, kListed, 0});
  Swarm swarm(tracker_of(farm), 2 * kListed);
  for (std::size_t i = 0; i < kListed; ++i) swarm.add_board(farm.board_key(i), milliseconds(0));
  join_all(swarm, kListed, seconds(20));
  std::atomic<bool> is_over{false};
  std::thread living([&] { swarm.run_until([&] { return is_over.load(); }, std::chrono::hours(1)); });
  farm::FarmClient connection(farm.access());
  std::vector<double> times;
  std::string failure;
  for (int i = 0; i < 500 && failure.empty(); ++i) {
    times.push_back(seconds_of([&] {
      farm::wire::ListDevices query;
      std::size_t listed = 0;
      for (bool has_more = true; has_more && failure.empty();) {
        const auto page = connection.ask(query);
        if (!page.is_ok()) {
          failure = page.status().message();
          return;
        }
        listed += page.value().devices.size();
        has_more = page.value().has_more;
        if (has_more) query.after = page.value().devices.back().name;
      }
      if (listed != kListed) failure = "expected 100 boards, got " + std::to_string(listed);
    }));
  }
  is_over = true;
  living.join();
  if (!failure.empty()) throw std::runtime_error(failure);
  const double found = median(times) * 1e3;
  report.row("query of a farm of 100 boards on a kept connection", text_of("%.2f ms", found), "1 ms", found <= 1,
             {{"milliseconds", found}});
}

void measure_crowd(const Programs& programs, Report& report) {
  RealFarm farm({programs.ferry, programs.rpc_server, programs.slow_fsync, Database::sqlite, 0, kBoards, kBusy});
  Swarm swarm(tracker_of(farm), kBoards + kClients + 100);
  for (std::size_t i = 0; i < kBoards; ++i) swarm.add_board(farm.board_key(i), milliseconds(draw(5000)));
  join_all(swarm, kBoards, seconds(120));

  swarm.run_for(seconds(3));
  const double cpu_before = farm.tracker().cpu_seconds();
  const auto begin = Clock::now();
  swarm.run_for(2 * programs.duration);
  const double core =
      (farm.tracker().cpu_seconds() - cpu_before) / std::chrono::duration<double>(Clock::now() - begin).count();
  report.row("heartbeats of 10,000 boards, share of a core", text_of("%.1f%%", core * 100), "20%", core <= 0.2,
             {{"share", core}});

  // From a release to the next grant: each of the boards has a queue.
  std::deque<Clock::time_point> released;
  std::vector<double> times;
  SwarmClient::Habit habit{"tag:busy", seconds(1)};
  habit.granted = [&] {
    if (released.empty()) return;
    times.push_back(std::chrono::duration<double>(Clock::now() - released.front()).count());
    released.pop_front();
  };
  habit.released = [&] { released.push_back(Clock::now()); };
  for (std::size_t i = 0; i < kClients; ++i) swarm.add_client(farm.access().key, habit, milliseconds(draw(3000)));
  swarm.run_until([&] { return swarm.clients_welcome() == kClients; }, seconds(60));
  swarm.run_for(seconds(3));
  times.clear();
  swarm.run_for(2 * programs.duration);
  const double p99 = percentile(times, 0.99) * 1e3;
  report.row("a grant among 10,000 boards, 1,000 clients waiting, 99th percentile (median " +
                 text_of("%.1f ms", percentile(times, 0.5) * 1e3) + ", " + std::to_string(times.size()) + " grants)",
             text_of("%.1f ms", p99), "50 ms", p99 <= 50, {{"p99_ms", p99}, {"grants", times.size()}});
  const double memory = farm.tracker().peak_megabytes();
  report.row("the tracker's memory with all of them", text_of("%.0f MB", memory), "300 MB", memory <= 300,
             {{"megabytes", memory}});

  // The boards find nobody for a while, so their pauses grow.
  farm.kill_tracker();
  swarm.run_for(seconds(5));
  if (swarm.boards_joined() != 0) throw std::runtime_error("expected no board to be joined without a tracker");
  farm.start_tracker();
  farm.wait_until_scheduling();
  const double back = swarm.run_until([&] { return swarm.boards_joined() == kBoards; }, seconds(120));
  report.row("all 10,000 boards are back after the tracker was killed, and another one started 5 s later",
             text_of("%.1f s", back), "60 s", back >= 0 && back <= 60, {{"seconds", back}});
}

}  // namespace ferry::bench
