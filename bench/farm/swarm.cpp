#include "bench/farm/swarm.h"

#include <sys/resource.h>

#include <algorithm>
#include <stdexcept>

namespace ferry::bench {
namespace {

constexpr std::chrono::milliseconds kWatchPeriod{20};

server::SocketAddress socket_address(const TcpAddress& address) {
  auto parsed = server::parse_socket_address(address.host, "the tracker");
  if (!parsed.is_ok()) throw std::runtime_error(parsed.status().message());
  parsed.value().set_port(address.port);
  return parsed.value();
}

void allow_descriptors(std::size_t count) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < count + 100)
    throw std::runtime_error("expected room for " + std::to_string(count + 100) + " open files, got " +
                             std::to_string(limit.rlim_cur) + " (ulimit -n)");
}

template <class Peers>
std::size_t count_welcome(const Peers& peers) {
  return static_cast<std::size_t>(std::ranges::count_if(peers, [](const auto& peer) { return peer->is_welcome(); }));
}

}  // namespace

Swarm::Swarm(const TcpAddress& tracker, std::size_t most)
    : secrets_(most), place_{loop_, secrets_, socket_address(tracker)}, watch_(loop_) {
  allow_descriptors(most);
}

Swarm::~Swarm() = default;

void Swarm::add_board(const secure::Key& key, std::chrono::milliseconds start_after) {
  boards_.push_back(std::make_unique<SwarmBoard>(place_, key));
  boards_.back()->start(start_after);
}

void Swarm::add_client(const secure::Key& key, const SwarmClient::Habit& habit, std::chrono::milliseconds start_after) {
  clients_.push_back(std::make_unique<SwarmClient>(place_, key, habit));
  clients_.back()->start(start_after);
}

std::size_t Swarm::boards_joined() const { return count_welcome(boards_); }
std::size_t Swarm::clients_welcome() const { return count_welcome(clients_); }

double Swarm::run_until(const std::function<bool()>& is_done, std::chrono::milliseconds timeout) {
  const auto begin = Clock::now();
  double taken = -1;
  const std::function<void()> look = [&] {
    const bool done = is_done();
    if (done) taken = std::chrono::duration<double>(Clock::now() - begin).count();
    if (done || Clock::now() - begin >= timeout) return loop_.stop();
    watch_.start(kWatchPeriod, look);
  };
  look();
  loop_.context().restart();
  if (taken < 0) loop_.run();
  return taken;
}

}  // namespace ferry::bench
