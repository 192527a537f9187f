#include "farm/relay/relayed_pair.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "rpc/transport/keepalive.h"

namespace ferry::farm {
namespace {

using Clock = std::chrono::steady_clock;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int prepared(Descriptor socket) {
  const int on = 1;
  // Fails for sockets other than TCP's, which need neither.
  (void)setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  enable_keepalive(socket.number());
  return socket.release();
}

}  // namespace

RelayedPair::RelayedPair(server::EventLoop& loop, Descriptor first, Descriptor second, std::uint64_t per_second,
                         Bandwidth& shared, std::atomic<std::uint64_t>& forwarded)
    : first_(loop, prepared(std::move(first))),
      second_(loop, prepared(std::move(second))),
      directions_{Direction{first_, second_, server::Timer(loop), std::vector<std::uint8_t>(kBufferBytes)},
                  Direction{second_, first_, server::Timer(loop), std::vector<std::uint8_t>(kBufferBytes)}},
      own_(per_second, burst_of(per_second), Clock::now()),
      shared_(shared),
      forwarded_(forwarded),
      last_active_(Clock::now()) {}

void RelayedPair::start(std::function<void()> ended) {
  ended_ = std::move(ended);
  for (Direction& direction : directions_) await_bytes(direction);
}

void RelayedPair::end() {
  if (is_over()) return;
  for (Direction& direction : directions_) direction.timer.cancel();
  first_.close();
  second_.close();
  std::exchange(ended_, nullptr)();
}

void RelayedPair::await_bytes(Direction& direction) {
  direction.from.when_readable([this, self = shared_from_this(), &direction] { await_turn(direction); });
}

void RelayedPair::await_turn(Direction& direction) {
  if (is_over()) return;
  const std::chrono::milliseconds pause = own_.time_until(Bandwidth::kLeast, Clock::now());
  if (pause.count() > 0)
    return direction.timer.start(pause, [this, self = shared_from_this(), &direction] { await_turn(direction); });
  shared_.wait_for_turn([this, self = shared_from_this(), &direction] { read(direction); });
}

void RelayedPair::read(Direction& direction) {
  if (is_over()) return;
  const std::uint64_t allowed = std::min(own_.available(Clock::now()), shared_.available());
  // The other direction has been faster.
  if (allowed == 0) return await_turn(direction);
  const std::size_t most = static_cast<std::size_t>(std::min<std::uint64_t>(allowed, direction.buffer.size()));
  const ssize_t count = ::recv(direction.from.number(), direction.buffer.data(), most, MSG_DONTWAIT);
  if (count < 0 && would_block()) return await_bytes(direction);
  if (count < 0) return end();
  if (count == 0) return close(direction);
  own_.take(static_cast<std::uint64_t>(count));
  shared_.take(static_cast<std::uint64_t>(count));
  direction.begin = 0;
  direction.end = static_cast<std::size_t>(count);
  write(direction);
}

void RelayedPair::write(Direction& direction) {
  if (is_over()) return;
  while (direction.begin < direction.end) {
    const ssize_t count = ::send(direction.to.number(), direction.buffer.data() + direction.begin,
                                 direction.end - direction.begin, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && would_block())
      return direction.to.when_writable([this, self = shared_from_this(), &direction] { write(direction); });
    if (count < 0) return end();
    direction.begin += static_cast<std::size_t>(count);
    forwarded_ += static_cast<std::uint64_t>(count);
    last_active_ = Clock::now();
  }
  // Others get their turn before the next bytes.
  await_bytes(direction);
}

void RelayedPair::close(Direction& direction) {
  direction.is_closed = true;
  const bool is_told = ::shutdown(direction.to.number(), SHUT_WR) == 0;
  if (!is_told || (directions_[0].is_closed && directions_[1].is_closed)) end();
}

}  // namespace ferry::farm
