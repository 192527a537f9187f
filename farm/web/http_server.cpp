#include "farm/web/http_server.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "farm/web/connections.h"
#include "farm/web/exchange.h"
#include "farm/web/farewells.h"
#include "farm/web/socket_stream.h"
#include "rpc/server/listen.h"
#include "rpc/server/socket_address.h"

namespace ferry::farm::http {
namespace {

Status refuse_reachable(const std::string& host) {
  return {ErrorCode::invalid_argument,
          "--http: expected a loopback address, got " + host +
              ": tokens would cross the network unencrypted. Let a reverse proxy with TLS listen there and pass "
              "requests on "
              "to a loopback address, or add --behind-proxy if the proxy is on another machine"};
}

// A response that fits into the buffer of its connection holds no thread, however slowly its client reads. The system
// may grant less, but more than a page has.
constexpr int kSendBuffer = 1 << 20;

// Without the port, and without the brackets around an IPv6 address.
std::string numeric_peer(int socket) {
  std::string name = server::peer_name(socket);
  name.resize(std::min(name.size(), name.rfind(':')));
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return name;
}

// How many threads serve clients who have shown neither a token nor a session lately.
std::size_t threads_for_strangers(const HttpOptions& options) {
  return std::max<std::size_t>(1, (options.threads - std::min(options.streams, options.threads)) / 2);
}

class Listener final : public HttpServer {
 public:
  Listener(Farm& farm, HttpOptions options, Descriptor socket, Descriptor wake)
      : site_(farm, std::move(options)),
        exchange_(site_),
        socket_(std::move(socket)),
        wake_(std::move(wake)),
        name_(server::own_name(socket_.number())),
        connections_(
            site_.options().threads, threads_for_strangers(site_.options()),
            [this](Arrival& request) { serve(request); }, [this](Descriptor served) { end(std::move(served)); }),
        acceptor_([this] { accept_all(); }) {}

  ~Listener() override { stop(); }

  std::uint16_t port() const override {
    return static_cast<std::uint16_t>(std::stoul(name_.substr(name_.rfind(':') + 1)));
  }
  std::string url() const override { return "http://" + name_ + "/"; }

  void stop() override {
    if (!acceptor_.joinable()) return;
    is_stopping_ = true;
    wake();
    acceptor_.join();
    socket_ = Descriptor();  // also ends connections that nobody has accepted
    exchange_.end_streams();
    connections_.stop();
  }

 private:
  void accept_all();
  // Returns false once there is none, or no descriptor for it.
  bool accept_one(Arrivals& arrivals);
  // Answers a request that is refused without a thread, and passes on the others.
  void take(Arrival request, Farewells& farewells);
  void serve(Arrival& request);
  void end(Descriptor served);
  void wake() const {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_.number(), &one, sizeof one));
  }

  Site site_;
  Exchange exchange_;
  Descriptor socket_;
  Descriptor wake_;  // readable: there is something for the acceptor to do
  std::string name_;
  std::atomic<bool> is_stopping_{false};
  std::mutex mutex_;                // guards the next member
  std::vector<Descriptor> served_;  // their peers may still be sending
  Connections connections_;
  std::thread acceptor_;
};

// The sooner of two times for poll(), of which -1 is none.
int sooner(int one, int other) { return one < 0 || other < 0 ? std::max(one, other) : std::min(one, other); }

void Listener::accept_all() {
  // So that connections without number do not keep those waiting that have arrived.
  constexpr int kAtOnce = 64;
  Arrivals arrivals(site_.options().request_deadline);
  Farewells farewells;
  std::vector<pollfd> entries;
  while (true) {
    entries = {{socket_.number(), POLLIN, 0}, {wake_.number(), POLLIN, 0}};
    farewells.append_to(entries);
    const std::size_t first_arrival = entries.size();
    arrivals.append_to(entries);
    const int left = sooner(arrivals.milliseconds_left(), farewells.milliseconds_left());
    if (::poll(entries.data(), entries.size(), left) < 0 && errno != EINTR) return;
    if (is_stopping_) return;
    farewells.read(entries.data() + 2);
    for (Arrival& arrival : arrivals.take(entries.data() + first_arrival)) take(std::move(arrival), farewells);
    if (entries[1].revents != 0) {
      std::uint64_t count = 0;
      static_cast<void>(!::read(wake_.number(), &count, sizeof count));
      const std::lock_guard lock(mutex_);
      for (Descriptor& served : served_) farewells.add(std::move(served));
      served_.clear();
    }
    for (int i = 0; i < kAtOnce && accept_one(arrivals); ++i) {
    }
  }
}

bool Listener::accept_one(Arrivals& arrivals) {
  Descriptor connection(::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection.number() >= 0) {
    const int on = 1;
    ::setsockopt(connection.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(connection.number(), SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
    arrivals.add(std::move(connection));
    return true;
  }
  if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
    arrivals.drop_oldest();
    // The connection stays in the queue of the socket until there is room.
    pollfd woken{wake_.number(), POLLIN, 0};
    ::poll(&woken, 1, 50);
  }
  return false;
}

void Listener::take(Arrival request, Farewells& farewells) {
  const CheckedHead& head = request.head;
  if (head.status == 0) {
    const bool is_known = site_.is_known(head.authorization, head.cookie);
    return connections_.add(std::move(request), is_known);
  }
  // So little always fits into the buffer of a connection on which nothing was sent yet.
  const std::string text = Exchange::refusal(head.status, head.reason);
  static_cast<void>(::send(request.connection.number(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  farewells.add(std::move(request.connection));
}

void Listener::serve(Arrival& request) {
  const int connection = request.connection.number();
  std::string text = std::move(request.head.text);
  text.append(request.bytes, request.head_bytes, request.head.body_bytes);
  SocketStream stream(connection, numeric_peer(connection), std::move(text), site_.options().response_deadline);
  exchange_.run(stream);
}

// Closes the connection, unless its peer has sent more than the request.
void Listener::end(Descriptor served) {
  pollfd entry{served.number(), POLLIN, 0};
  if (::poll(&entry, 1, 0) <= 0) return;
  {
    const std::lock_guard lock(mutex_);
    if (served_.size() >= Farewells::kMost) return;
    served_.push_back(std::move(served));
  }
  wake();
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(Farm& farm, HttpOptions options) {
  FERRY_ASSIGN(server::SocketAddress address, server::parse_socket_address(options.host, "--http"));
  if (!options.behind_proxy && !address.is_loopback()) return refuse_reachable(options.host);
  FERRY_ASSIGN(Descriptor socket, server::listen_at(options.host, options.port, options.port, true));
  Descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake.number() < 0) return Status(ErrorCode::resource_exhausted, "no descriptor is left for the HTTP interface");
  try {
    return std::unique_ptr<HttpServer>(
        std::make_unique<Listener>(farm, std::move(options), std::move(socket), std::move(wake)));
  } catch (const std::system_error&) {
    return Status(ErrorCode::resource_exhausted, "the system refuses the threads of the HTTP interface");
  }
}

}  // namespace ferry::farm::http
