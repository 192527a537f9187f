#include "rpc/transport/tcp.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "base/format.h"
#include "rpc/transport/socket.h"
#include "rpc/transport/watched_transport.h"

namespace ferry {
namespace {

using Clock = std::chrono::steady_clock;

struct Endpoint {
  int family = AF_UNSPEC;
  sockaddr_storage address{};
  socklen_t length = 0;
};

struct Lookup {
  std::mutex mutex;
  std::condition_variable done;
  bool finished = false;
  int error = 0;
  std::vector<Endpoint> endpoints;
};

std::vector<Endpoint> copy_endpoints(const addrinfo* list) {
  std::vector<Endpoint> endpoints;
  for (; list != nullptr; list = list->ai_next) {
    Endpoint endpoint{list->ai_family, {}, list->ai_addrlen};
    std::memcpy(&endpoint.address, list->ai_addr, list->ai_addrlen);
    endpoints.push_back(endpoint);
  }
  return endpoints;
}

int look_up(const std::string& host, std::uint16_t port, int flags, std::vector<Endpoint>& endpoints) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) return error;
  endpoints = copy_endpoints(list);
  ::freeaddrinfo(list);
  return 0;
}

// getaddrinfo blocks for a long time if a name server does not answer, and it cannot be cancelled. So it runs in a
// detached thread that owns copies of all its data.
Result<std::vector<Endpoint>> resolve(const TcpAddress& address, Clock::time_point deadline) {
  std::vector<Endpoint> numeric;
  if (look_up(address.host, address.port, AI_NUMERICHOST, numeric) == 0) return numeric;

  auto lookup = std::make_shared<Lookup>();
  std::thread([lookup, address] {
    std::vector<Endpoint> endpoints;
    const int error = look_up(address.host, address.port, 0, endpoints);
    const std::lock_guard lock(lookup->mutex);
    lookup->error = error;
    lookup->endpoints = std::move(endpoints);
    lookup->finished = true;
    lookup->done.notify_one();
  }).detach();
  std::unique_lock lock(lookup->mutex);
  if (!lookup->done.wait_until(lock, deadline, [&] { return lookup->finished; })) {
    return Status(ErrorCode::unavailable, "the name was not found in time");
  }
  if (lookup->error != 0) return Status(ErrorCode::unavailable, ::gai_strerror(lookup->error));
  return lookup->endpoints;
}

// Returns 0, or the errno of the failure.
int wait_connected(int fd, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd entry{fd, POLLOUT, 0};
    const int ready = ::poll(&entry, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
    if (ready == 0) return ETIMEDOUT;
    if (ready < 0 && errno != EINTR) return errno;
    if (ready > 0) break;
  }
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

// If nobody listens on a local port that the system also assigns to outgoing connections, a socket can connect to
// itself.
bool is_connected_to_itself(int fd) {
  sockaddr_storage here{};
  sockaddr_storage there{};
  socklen_t here_length = sizeof here;
  socklen_t there_length = sizeof there;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&here), &here_length) == 0 &&
         ::getpeername(fd, reinterpret_cast<sockaddr*>(&there), &there_length) == 0 && here_length == there_length &&
         std::memcmp(&here, &there, here_length) == 0;
}

// Returns 0 and a connected socket, or an errno.
int connect_endpoint(const Endpoint& endpoint, Clock::time_point deadline, int& fd) {
  fd = ::socket(endpoint.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  int error = 0;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.length) != 0) {
    error = errno == EINPROGRESS || errno == EINTR ? wait_connected(fd, deadline) : errno;
  }
  if (error == 0 && is_connected_to_itself(fd)) error = ECONNREFUSED;
  if (error != 0) ::close(fd);
  return error;
}

}  // namespace

Result<std::unique_ptr<Transport>> connect_tcp(const std::string& host, std::uint16_t port,
                                               std::chrono::milliseconds timeout) {
  const TcpAddress address{host, port};
  const Clock::time_point deadline = Clock::now() + timeout;
  const auto refuse = [&](const std::string& reason) {
    return Status(ErrorCode::unavailable, "cannot connect to " + to_text(address) + ": " + reason);
  };
  Result<std::vector<Endpoint>> endpoints = resolve(address, deadline);
  if (!endpoints.is_ok()) return refuse(endpoints.status().message());
  int error = EHOSTUNREACH;
  for (const Endpoint& endpoint : endpoints.value()) {
    int fd = -1;
    error = connect_endpoint(endpoint, deadline, fd);
    if (error != 0) continue;
    FERRY_ASSIGN(std::unique_ptr<Transport> connection, wrap_socket(fd));
    return watched_transport(std::move(connection));
  }
  if (error == ETIMEDOUT)
    return refuse(format("no answer within %g s", std::chrono::duration<double>(timeout).count()));
  if (error == ECONNREFUSED) return refuse("connection refused; is rpc_server running there?");
  return refuse(std::strerror(error));
}

}  // namespace ferry
