#include "rpc/transport/keepalive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstddef>

namespace ferry {
namespace {

constexpr int kFirstProbeSeconds = 2;
constexpr int kProbeSeconds = 2;
constexpr int kProbes = 3;

// TCP_RTO_MAX_MS of Linux 6.15 and later; the system's headers may be older.
constexpr int kTcpRtoMaxMs = 44;
constexpr int kLongestPauseMs = 2000;
// A single probe may have been lost, or may be answered at this moment.
constexpr unsigned kUnansweredProbes = 2;

}  // namespace

void enable_keepalive(int socket) {
  const auto set = [socket](int level, int option, int value) {
    (void)setsockopt(socket, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kFirstProbeSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  // By default the pauses between probes of a closed window double, up to two minutes, however promptly each probe is
  // answered.
  set(IPPROTO_TCP, kTcpRtoMaxMs, kLongestPauseMs);
}

bool is_silent(int socket) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 ||
      length < offsetof(tcp_info, tcpi_last_ack_recv) + sizeof info.tcpi_last_ack_recv) {
    return false;
  }
  const bool waits = info.tcpi_unacked > 0 || info.tcpi_probes >= kUnansweredProbes;
  return waits && info.tcpi_last_ack_recv > kSilentMs;
}

bool is_peer_gone(int socket) {
  pollfd entry{socket, POLLRDHUP, 0};
  return poll(&entry, 1, 0) > 0 || is_silent(socket);
}

}  // namespace ferry
