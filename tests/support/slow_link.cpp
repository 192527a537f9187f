#include "tests/support/slow_link.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <stdexcept>
#include <vector>

namespace ferry::test {

namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

bool has_unacknowledged(int socket) {
  tcp_info info{};
  socklen_t length = sizeof info;
  return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 && info.tcpi_unacked > 0;
}

// Resets the connection, as a failing machine on the path would.
void reset(int socket) {
  const linger at_once{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  shutdown(socket, SHUT_RD);
}

// One direction of a connection. Data is held until the link would have delivered it.
class Lane {
 public:
  Lane(int from, int to, const LinkSpeed& speed, std::atomic<std::size_t>* carried = nullptr)
      : from_(from), to_(to), speed_(speed), carried_(carried) {
    reader_ = std::thread([this] { read_all(); });
    writer_ = std::thread([this] { write_all(); });
  }
  ~Lane() {
    reader_.join();
    writer_.join();
  }

 private:
  struct Piece {
    Clock::time_point arrives;
    std::vector<char> bytes;
  };

  // Returns the bandwidth-delay product plus a router's queue.
  std::size_t capacity() const {
    return static_cast<std::size_t>(speed_.bytes_per_second *
                                    std::chrono::duration<double>(speed_.round_trip).count()) +
           (256 << 10);
  }

  void read_all() {
    Clock::time_point free_at = Clock::now();
    std::vector<char> buffer(16 << 10);
    while (true) {
      const ssize_t count = recv(from_, buffer.data(), buffer.size(), 0);
      std::unique_lock lock(mutex_);
      if (count <= 0) {
        ended_ = true;
        changed_.notify_all();
        return;
      }
      if (carried_ != nullptr) *carried_ += static_cast<std::size_t>(count);
      const std::chrono::duration<double> takes(static_cast<double>(count) / speed_.bytes_per_second);
      free_at = std::max(free_at, Clock::now()) + std::chrono::duration_cast<Clock::duration>(takes);
      pieces_.push_back({free_at + speed_.round_trip / 2, {buffer.begin(), buffer.begin() + count}});
      held_ += static_cast<std::size_t>(count);
      changed_.notify_all();
      changed_.wait(lock, [&] { return held_ < capacity() || broken_; });
    }
  }

  void write_all() {
    while (true) {
      Piece piece;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !pieces_.empty() || ended_; });
        if (pieces_.empty()) break;
        piece = std::move(pieces_.front());
        pieces_.pop_front();
      }
      std::this_thread::sleep_until(piece.arrives);
      std::size_t sent = 0;
      while (sent < piece.bytes.size()) {
        const ssize_t count = send(to_, piece.bytes.data() + sent, piece.bytes.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) break;
        sent += static_cast<std::size_t>(count);
      }
      const std::lock_guard lock(mutex_);
      held_ -= piece.bytes.size();
      broken_ = broken_ || sent < piece.bytes.size();
      changed_.notify_all();
    }
    shutdown(to_, SHUT_WR);
  }

  const int from_, to_;
  const LinkSpeed speed_;
  std::atomic<std::size_t>* const carried_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> pieces_;
  std::size_t held_ = 0;
  bool ended_ = false;
  bool broken_ = false;
  std::thread reader_, writer_;
};

}  // namespace

// A socket that is closed once neither direction uses it.
struct Socket {
  int number;
  ~Socket() { close(number); }
};

struct SlowLink::Connection {
  Socket client, server;
  Lane forth, back;
  Connection(int from, int to, const LinkSpeed& speed, std::atomic<std::size_t>& carried)
      : client{from}, server{to}, forth(from, to, speed, &carried), back(to, from, speed) {}
  void cut() const {
    for (const int end : {client.number, server.number}) {
      reset(end);
      shutdown(end, SHUT_RDWR);
    }
  }
};

SlowLink::SlowLink(int server_port, LinkSpeed speed, int drops)
    : server_port_(server_port), speed_(speed), drops_(drops) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("the link cannot listen on loopback");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

SlowLink::~SlowLink() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  cut();
}

void SlowLink::accept_all() {
  while (true) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    if (drops_ > 0) {
      --drops_;
      char byte;
      (void)recv(client, &byte, 1, 0);
      reset(client);
      close(client);
      continue;
    }
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(server_port_);
    const int on = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      close(client);
      close(server);
      continue;
    }
    const std::lock_guard lock(mutex_);
    connections_.push_back(std::make_unique<Connection>(client, server, speed_, carried_));
  }
}

void SlowLink::fall_silent() {
  sock_filter nothing{BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog program{1, &nothing};
  const std::lock_guard lock(mutex_);
  for (const auto& connection : connections_) {
    // Unacknowledged data would be retransmitted to the client again and again, which counts as a sign of life.
    for (int waited = 0; waited < 1000 && has_unacknowledged(connection->client.number); ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (setsockopt(connection->client.number, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
      throw std::runtime_error("the link cannot fall silent");
    }
  }
}

void SlowLink::cut() {
  const std::lock_guard lock(mutex_);
  for (const auto& connection : connections_) connection->cut();
}

}  // namespace ferry::test
