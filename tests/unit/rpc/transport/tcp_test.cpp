#include "rpc/transport/tcp.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "rpc/transport/socket.h"

namespace ferry {
namespace {

using namespace std::chrono_literals;

struct Listener {
  int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  std::uint16_t port = 0;

  explicit Listener(int backlog) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0);
    if (backlog >= 0) REQUIRE(::listen(fd, backlog) == 0);
    REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    port = ntohs(address.sin_port);
  }
  ~Listener() { ::close(fd); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
};

TEST_CASE("addresses are read with and without port, brackets around IPv6") {
  const auto parsed = [](std::string_view text) {
    const Result<TcpAddress> address = parse_tcp_address(text, 9090);
    return address.is_ok() ? to_text(address.value()) : address.status().message();
  };
  CHECK(parsed("127.0.0.1:80") == "127.0.0.1:80");
  CHECK(parsed("board") == "board:9090");
  CHECK(parsed("[::1]:7") == "[::1]:7");
  CHECK(parsed("[::1]") == "[::1]:9090");
  CHECK(parsed("") == "expected HOST:PORT, got ''");
  CHECK(parsed(":80") == "expected HOST:PORT, got ':80'");
  CHECK(parsed("board:") == "expected a port between 1 and 65535, got 'board:'");
  CHECK(parsed("board:0") == "expected a port between 1 and 65535, got 'board:0'");
  CHECK(parsed("board:65536") == "expected a port between 1 and 65535, got 'board:65536'");
  CHECK(parsed("board:99999999999999999999") ==
        "expected a port between 1 and 65535, got 'board:99999999999999999999'");
  CHECK(parsed("board:8o") == "expected a port between 1 and 65535, got 'board:8o'");
  CHECK(parsed("::1") == "expected an IPv6 address in brackets, [ADDRESS]:PORT, got '::1'");
  CHECK(parsed("[::1") == "expected a ']' after an IPv6 address, got '[::1'");
  CHECK(parsed("[::1]80") == "expected [ADDRESS]:PORT, got '[::1]80'");
}

TEST_CASE("a port where nobody listens is refused at once, naming the address") {
  const Listener unheard(-1);  // bound but not listening, so that nobody else takes the port
  const Status status = connect_tcp("127.0.0.1", unheard.port).status();
  CHECK(status.code() == ErrorCode::unavailable);
  CHECK(status.message() == "cannot connect to 127.0.0.1:" + std::to_string(unheard.port) +
                                ": connection refused; is rpc_server running there?");
}

TEST_CASE("an address that does not answer is given up at the timeout") {
  const Listener full(0);
  // Connections beyond the backlog are not established until somebody accepts.
  std::vector<int> waiting;
  for (int i = 0; i < 4; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(full.port);
    (void)::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
    waiting.push_back(fd);
  }
  const auto start = std::chrono::steady_clock::now();
  const Status status = connect_tcp("127.0.0.1", full.port, 300ms).status();
  const auto elapsed = std::chrono::steady_clock::now() - start;
  CHECK(status.code() == ErrorCode::unavailable);
  CHECK(status.message() == "cannot connect to 127.0.0.1:" + std::to_string(full.port) + ": no answer within 0.3 s");
  CHECK(elapsed >= 290ms);
  for (const int fd : waiting) ::close(fd);
}

TEST_CASE("a name that does not exist is reported within the timeout") {
  const auto start = std::chrono::steady_clock::now();
  const Status status = connect_tcp("no-such-host.invalid", 9090, 2s).status();
  CHECK(status.code() == ErrorCode::unavailable);
  CHECK(status.message().rfind("cannot connect to no-such-host.invalid:9090: ", 0) == 0);
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("a wrapped TCP socket is blocking and sends without delay") {
  const Listener listener(1);
  Result<std::unique_ptr<Transport>> client = connect_tcp("localhost", listener.port);
  REQUIRE_MESSAGE(client.is_ok(), client.status().message());
  const int fd = client.value()->native_handle();
  CHECK((::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0);
  int no_delay = 0;
  socklen_t length = sizeof no_delay;
  REQUIRE(::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &length) == 0);
  CHECK(no_delay != 0);
}

TEST_CASE("what is not a socket is not wrapped, and closed") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  CHECK(wrap_socket(ends[0]).status().code() == ErrorCode::unavailable);
  CHECK(::fcntl(ends[0], F_GETFL) == -1);
  ::close(ends[1]);
  CHECK(wrap_socket(-1).status().code() == ErrorCode::unavailable);
}

TEST_CASE("a socket is closed with its transport") {
  auto pair = socket_transport_pair();
  REQUIRE(pair.is_ok());
  const int fd = pair.value().first->native_handle();
  pair.value().first.reset();
  CHECK(::fcntl(fd, F_GETFL) == -1);
}

}  // namespace
}  // namespace ferry
