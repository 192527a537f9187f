#include "farm/web/arrivals.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "farm/web/request_head.h"

namespace ferry::farm::http {
namespace {

enum class Progress { more, ready, gone };

bool refuse(Arrival& arrival, int status, const char* reason) {
  arrival.head.status = status;
  arrival.head.reason = reason;
  return false;
}

// Whether there is a head, and how long it makes the request. Returns false if it is refused.
bool find_length(Arrival& arrival, std::size_t from) {
  constexpr std::string_view kEnd = "\r\n\r\n", kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  const std::size_t at = arrival.bytes.find(kEnd, from < kEnd.size() ? 0 : from - kEnd.size());
  const std::size_t size = at == std::string::npos ? arrival.bytes.size() : at + kEnd.size();
  if (size > kMaxHead) return refuse(arrival, 431, "the headers are too large");
  if (at == std::string::npos) return true;
  arrival.head = check_head(std::string_view(arrival.bytes).substr(0, size));
  if (arrival.head.status != 0) return false;
  arrival.head_bytes = size;
  arrival.expected = size + arrival.head.body_bytes;
  // So little always fits into the buffer of a connection on which nothing was sent yet.
  if (arrival.head.expects_continue && arrival.bytes.size() < arrival.expected)
    static_cast<void>(::send(arrival.connection.number(), kContinue.data(), kContinue.size(), MSG_NOSIGNAL));
  return true;
}

Progress receive(Arrival& arrival) {
  char piece[4096];
  while (true) {
    const ssize_t count = ::recv(arrival.connection.number(), piece, sizeof piece, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return Progress::more;
    if (count <= 0) return Progress::gone;
    const std::size_t before = arrival.bytes.size();
    arrival.bytes.append(piece, static_cast<std::size_t>(count));
    if (arrival.expected == 0 && !find_length(arrival, before)) return Progress::ready;
    if (arrival.expected != 0 && arrival.bytes.size() >= arrival.expected) return Progress::ready;
  }
}

}  // namespace

void Arrivals::add(Descriptor connection) {
  if (all_.size() >= kMost) drop_oldest();
  all_.push_back({std::move(connection), std::chrono::steady_clock::now() + time_});
}

void Arrivals::drop_oldest() {
  if (!all_.empty()) all_.pop_front();
}

void Arrivals::append_to(std::vector<pollfd>& entries) const {
  for (const Arrival& arrival : all_) entries.push_back({arrival.connection.number(), POLLIN, 0});
}

int Arrivals::milliseconds_left() const {
  if (all_.empty()) return -1;
  const auto left = all_.front().deadline - std::chrono::steady_clock::now();
  return std::max(0, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
}

std::vector<Arrival> Arrivals::take(const pollfd* entries) {
  const auto now = std::chrono::steady_clock::now();
  std::vector<Arrival> ready;
  std::deque<Arrival> others;
  for (Arrival& arrival : all_) {
    const Progress progress = (entries++)->revents != 0 ? receive(arrival) : Progress::more;
    if (progress == Progress::gone) continue;
    const bool is_late = progress == Progress::more && arrival.deadline <= now;
    if (is_late) refuse(arrival, 408, "the request took too long");
    const bool is_ready = progress == Progress::ready || is_late;
    (is_ready ? static_cast<void>(ready.push_back(std::move(arrival))) : others.push_back(std::move(arrival)));
  }
  all_ = std::move(others);
  return ready;
}

}  // namespace ferry::farm::http
