#include "farm/web/http_server.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/post.hpp>
#include <atomic>
#include <cerrno>
#include <map>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "farm/web/connection.h"
#include "farm/web/event_sender.h"
#include "farm/web/response_text.h"
#include "farm/web/site/site.h"
#include "farm/web/workers.h"
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

// Connections in one phase of their lives, by their numbers, which makes the oldest the first. Where there are `most`,
// the oldest gives way to another.
struct Phase {
  std::size_t most;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections = {};

  void drop_oldest() {
    if (!connections.empty()) connections.erase(connections.begin());
  }
  Connection& add(std::uint64_t number, std::unique_ptr<Connection> connection) {
    if (connections.size() >= most) drop_oldest();
    return *(connections[number] = std::move(connection));
  }
  std::unique_ptr<Connection> take(std::uint64_t number) { return std::move(connections.extract(number).mapped()); }
};

class Server final : public HttpServer {
 public:
  Server(Farm& farm, HttpOptions options, Descriptor socket)
      : site_(farm, std::move(options)),
        name_(server::own_name(socket.number())),
        listener_(loop_, socket.release()),
        pause_(loop_),
        workers_(site_.options().threads, std::max<std::size_t>(1, site_.options().threads / 2)) {
    listener_.when_readable([this] { accept_some(); });
    thread_ = std::thread([this] { loop_.run(); });
    farm.set_change_listener([this] { farm_has_changed(); });
  }

  ~Server() override { stop(); }

  std::uint16_t port() const override {
    return static_cast<std::uint16_t>(std::stoul(name_.substr(name_.rfind(':') + 1)));
  }
  std::string url() const override { return "http://" + name_ + "/"; }

  void stop() override {
    if (!thread_.joinable()) return;
    site_.farm().set_change_listener(nullptr);
    loop_.stop();
    thread_.join();
    workers_.stop();
    listener_.close();  // also ends connections that nobody has accepted
    for (Phase* phase : {&arriving_, &waiting_, &sending_, &finishing_}) phase->connections.clear();
    streams_.clear();
  }

 private:
  // All but farm_has_changed() on the loop.
  void accept_some();
  void arrived(std::uint64_t number);
  void respond(std::uint64_t number, std::unique_ptr<Connection> connection, const HttpResponse& response);
  void finish(std::uint64_t number);
  void farm_has_changed();

  Site site_;
  server::EventLoop loop_;
  std::string name_;
  server::WatchedDescriptor listener_;
  server::Timer pause_;
  std::uint64_t last_ = 0;  // the number of the newest connection
  Phase arriving_{512}, sending_{128}, finishing_{256};
  // Their requests are those of the workers' jobs, which also limit them: none may give way.
  Phase waiting_{~std::size_t{0}};
  std::map<std::uint64_t, std::shared_ptr<EventSender>> streams_;
  std::atomic<bool> is_change_posted_{false};
  Workers workers_;
  std::thread thread_;
};

void Server::accept_some() {
  // So that connections without number do not keep those waiting that have arrived.
  constexpr int kAtOnce = 64;
  for (int i = 0; i < kAtOnce; ++i) {
    Descriptor socket(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.number() < 0) {
      if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) break;
      // The connection stays in the queue of the socket until there is room.
      arriving_.drop_oldest();
      return pause_.start(std::chrono::milliseconds(50), [this] { accept_some(); });
    }
    const int on = 1;
    ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::uint64_t number = ++last_;
    arriving_.add(number, std::make_unique<Connection>(loop_, std::move(socket)))
        .receive(
            site_.options().request_deadline, [this, number] { arrived(number); },
            [this, number] { arriving_.take(number); });
  }
  listener_.when_readable([this] { accept_some(); });
}

void Server::arrived(std::uint64_t number) {
  std::unique_ptr<Connection> arrived = arriving_.take(number);
  RequestParser& parser = arrived->parser();
  if (parser.state() == RequestParser::State::refused)
    return respond(number, std::move(arrived), site_.refusal(parser.status(), parser.reason()));
  HttpRequest& request = parser.request();
  request.peer = numeric_peer(arrived->socket());
  waiting_.add(number, std::move(arrived));
  const auto job = [this, number, &request] {
    const auto response = std::make_shared<HttpResponse>(site_.handle(request));
    asio::post(loop_.context(), [this, number, response] { respond(number, waiting_.take(number), *response); });
  };
  if (!workers_.add(job, site_.is_known(request.authorization, request.cookie))) waiting_.take(number);
}

void Server::respond(std::uint64_t number, std::unique_ptr<Connection> connection, const HttpResponse& response) {
  const std::string& method = connection->parser().request().method;
  const std::chrono::milliseconds limit = site_.options().response_deadline;
  std::string text = response_text(response, method);
  if (response.events != nullptr && method != "HEAD") {
    const auto sender =
        std::make_shared<EventSender>(loop_, site_.farm(), workers_, std::move(connection), response.events, limit);
    streams_[number] = sender;
    return sender->start(std::move(text), [this, number] { streams_.erase(number); });
  }
  sending_.add(number, std::move(connection)).send(std::move(text), limit, [this, number](bool is_sent) {
    is_sent ? finish(number) : static_cast<void>(sending_.take(number));
  });
}

// Closes the connection, unless its client has sent more than a request.
void Server::finish(std::uint64_t number) {
  std::unique_ptr<Connection> connection = sending_.take(number);
  if (connection->parser().state() == RequestParser::State::whole && !connection->has_input()) return;
  finishing_.add(number, std::move(connection)).finish([this, number] { finishing_.take(number); });
}

void Server::farm_has_changed() {
  if (is_change_posted_.exchange(true)) return;
  asio::post(loop_.context(), [this] {
    is_change_posted_ = false;
    std::vector<std::shared_ptr<EventSender>> senders;
    for (const auto& [number, sender] : streams_) senders.push_back(sender);
    for (const auto& sender : senders) sender->send_due();
  });
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(Farm& farm, HttpOptions options) {
  FERRY_ASSIGN(server::SocketAddress address, server::parse_socket_address(options.host, "--http"));
  if (!options.behind_proxy && !address.is_loopback()) return refuse_reachable(options.host);
  FERRY_ASSIGN(Descriptor socket, server::listen_at(options.host, options.port, options.port, true));
  try {
    return std::unique_ptr<HttpServer>(std::make_unique<Server>(farm, std::move(options), std::move(socket)));
  } catch (const std::system_error&) {
    return Status(ErrorCode::resource_exhausted, "the system refuses the threads of the HTTP interface");
  }
}

}  // namespace ferry::farm::http
