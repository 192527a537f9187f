#include "host/farm/http/http_server.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <thread>
#include <vector>

#include "host/farm/http/connections.h"
#include "host/farm/http/exchange.h"
#include "host/farm/http/request_head.h"
#include "host/farm/http/socket_stream.h"
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

// Without the port, and without the brackets around an IPv6 address.
std::string numeric_peer(int socket) {
  std::string name = server::peer_name(socket);
  name.resize(std::min(name.size(), name.rfind(':')));
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return name;
}

class Listener final : public HttpServer {
 public:
  Listener(Farm& farm, HttpOptions options, Descriptor socket, Descriptor stop)
      : site_(farm, std::move(options)),
        exchange_(site_),
        socket_(std::move(socket)),
        stop_(std::move(stop)),
        name_(server::own_name(socket_.number())),
        connections_(site_.options().threads, [this](Arrival& request) { serve(request); }),
        acceptor_([this] { accept_all(); }) {}

  ~Listener() override { stop(); }

  std::uint16_t port() const override {
    return static_cast<std::uint16_t>(std::stoul(name_.substr(name_.rfind(':') + 1)));
  }
  std::string url() const override { return "http://" + name_ + "/"; }

  void stop() override {
    if (!acceptor_.joinable()) return;
    const std::uint64_t one = 1;
    static_cast<void>(!::write(stop_.number(), &one, sizeof one));
    acceptor_.join();
    socket_ = Descriptor();  // also ends connections that nobody has accepted
    exchange_.end_streams();
    connections_.stop();
  }

 private:
  void accept_all();
  // Returns false once there is none, or no descriptor for it.
  bool accept_one(Arrivals& arrivals);
  void serve(Arrival& request);

  Site site_;
  Exchange exchange_;
  Descriptor socket_;
  Descriptor stop_;
  std::string name_;
  Connections connections_;
  std::thread acceptor_;
};

void Listener::accept_all() {
  // So that connections without number do not keep those waiting that have arrived.
  constexpr int kAtOnce = 64;
  Arrivals arrivals(site_.options().request_deadline);
  std::vector<pollfd> entries;
  while (true) {
    entries = {{socket_.number(), POLLIN, 0}, {stop_.number(), POLLIN, 0}};
    arrivals.append_to(entries);
    if (::poll(entries.data(), entries.size(), arrivals.milliseconds_left()) < 0 && errno != EINTR) return;
    if (entries[1].revents != 0) return;
    for (Arrival& arrival : arrivals.take(entries.data() + 2)) connections_.add(std::move(arrival));
    for (int i = 0; i < kAtOnce && accept_one(arrivals); ++i) {
    }
  }
}

bool Listener::accept_one(Arrivals& arrivals) {
  Descriptor connection(::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection.number() >= 0) {
    const int on = 1;
    ::setsockopt(connection.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    arrivals.add(std::move(connection));
    return true;
  }
  if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
    arrivals.drop_oldest();
    // The connection stays in the queue of the socket until there is room.
    pollfd stop{stop_.number(), POLLIN, 0};
    ::poll(&stop, 1, 50);
  }
  return false;
}

void Listener::serve(Arrival& request) {
  const int connection = request.connection.number();
  SocketStream stream(connection, numeric_peer(connection), request.deadline, site_.options().response_deadline,
                      std::move(request.bytes));
  std::string head;
  CheckedHead checked;
  switch (stream.read_head(head)) {
    case SocketStream::HeadEnd::complete: checked = check_head(head); break;
    case SocketStream::HeadEnd::too_large:
      checked.status = 431;
      checked.reason = "the headers are too large";
      break;
    case SocketStream::HeadEnd::timed_out:
      checked.status = 408;
      checked.reason = "the request took too long";
      break;
    case SocketStream::HeadEnd::gone: return;
  }
  if (checked.status != 0) {
    const std::string text = Exchange::refusal(checked.status, checked.reason);
    stream.write(text.data(), text.size());
  } else {
    stream.replay(std::move(checked.text), checked.body_bytes);
    exchange_.run(stream);
  }
  if (checked.status == 408) return;
  if (checked.status != 0 || stream.has_unread()) stream.drain();
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(Farm& farm, HttpOptions options) {
  FERRY_ASSIGN(server::SocketAddress address, server::parse_socket_address(options.host, "--http"));
  if (!options.behind_proxy && !address.is_loopback()) return refuse_reachable(options.host);
  FERRY_ASSIGN(Descriptor socket, server::listen_at(options.host, options.port, options.port, true));
  Descriptor stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (stop.number() < 0) return Status(ErrorCode::resource_exhausted, "no descriptor is left for the HTTP interface");
  try {
    return std::unique_ptr<HttpServer>(
        std::make_unique<Listener>(farm, std::move(options), std::move(socket), std::move(stop)));
  } catch (const std::system_error&) {
    return Status(ErrorCode::resource_exhausted, "the system refuses the threads of the HTTP interface");
  }
}

}  // namespace ferry::farm::http
