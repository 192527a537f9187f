#include "farm/web/farewells.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace ferry::farm::http {
namespace {

// Returns how many bytes were dropped; -1: the peer has closed the connection.
ssize_t drop_some(int connection) {
  char piece[16384];
  while (true) {
    const ssize_t count = ::recv(connection, piece, sizeof piece, MSG_DONTWAIT);
    if (count > 0) return count;
    if (count < 0 && errno == EINTR) continue;
    return count < 0 && errno == EAGAIN ? 0 : -1;
  }
}

}  // namespace

void Farewells::add(Descriptor connection) {
  if (all_.size() >= kMost) all_.pop_front();
  ::shutdown(connection.number(), SHUT_WR);
  all_.push_back({std::move(connection), std::chrono::steady_clock::now() + kTime});
}

void Farewells::append_to(std::vector<pollfd>& entries) const {
  for (const Farewell& one : all_) entries.push_back({one.connection.number(), POLLIN, 0});
}

int Farewells::milliseconds_left() const {
  if (all_.empty()) return -1;
  const auto left = all_.front().deadline - std::chrono::steady_clock::now();
  return std::max(0, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
}

void Farewells::read(const pollfd* entries) {
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(all_, [&](Farewell& one) {
    if ((entries++)->revents == 0) return one.deadline <= now;
    // One piece a turn, so that a peer that sends very much keeps nobody waiting.
    const ssize_t count = drop_some(one.connection.number());
    if (count > 0) one.bytes += static_cast<std::size_t>(count);
    return count < 0 || one.bytes >= kMostBytes || one.deadline <= now;
  });
}

}  // namespace ferry::farm::http
