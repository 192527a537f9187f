#include "device-runtime/supervisor/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <list>
#include <optional>

#include "device-runtime/supervisor/farewell.h"
#include "device-runtime/supervisor/handshake.h"
#include "device-runtime/supervisor/listen.h"
#include "device-runtime/supervisor/session_process.h"
#include "rpc/base/format.h"
#include "rpc/wire/connection.h"

namespace ferry::device {
namespace {

constexpr std::size_t kMaxSessions = 64;
constexpr std::size_t kMaxHandshakes = 512;
constexpr std::chrono::milliseconds kWatchInterval{500};
constexpr std::chrono::milliseconds kAcceptRetry{100};

struct Session {
  std::uint64_t number = 0;
  pid_t process = 0;
  Descriptor socket;  // the child's too; here for the last frame
  ActivityPage page;
  bool client_seemed_gone = false;
};

class Supervisor {
 public:
  Supervisor(const ServerOptions& options, const DeviceFacts& facts, const WorkFolder& folder)
      : options_(options), modules_(folder.modules()), session_options_{facts, &modules_} {}

  Status run() {
    asio::error_code error;
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
      if (!error) signals_.add(number, error);
    }
    if (error) return {ErrorCode::internal, "cannot handle signals: " + error.message()};
    wait_for_signal();
    FERRY_TRY(options_.inherited_socket >= 0 ? adopt() : listen());
    context_.run();
    return {};
  }

 private:
  Status listen() {
    FERRY_ASSIGN(auto acceptor, listen_at(context_, options_.host, options_.port, options_.port_end));
    acceptor_.emplace(std::move(acceptor));
    std::printf("rpc_server listening on %s\n", endpoint_name(*acceptor_).c_str());
    std::fflush(stdout);
    accept();
    return {};
  }

  Status adopt() {
    ClientSocket socket(context_);
    if (const auto error = adopt_descriptor(socket, options_.inherited_socket)) {
      return {ErrorCode::invalid_argument, format("--fd %d: %s", options_.inherited_socket, error.message().c_str())};
    }
    greet(std::move(socket));
    return {};
  }

  void accept() {
    acceptor_->async_accept([this](asio::error_code error, asio::ip::tcp::socket socket) {
      if (stopping_) return;
      if (error) return accept_later();
      if (handshakes_ < kMaxHandshakes) greet(ClientSocket(std::move(socket)));
      accept();
    });
  }

  // Out of descriptors, most likely: sessions that end give some back.
  void accept_later() {
    retry_.expires_after(kAcceptRetry);
    retry_.async_wait([this](asio::error_code error) {
      if (!error && !stopping_) accept();
    });
  }

  void greet(ClientSocket socket) {
    ++handshakes_;
    begin_handshake(
        std::move(socket), [this](GreetedClient client) { admit(std::move(client)); },
        [this] {
          --handshakes_;
          end_if_alone();
        });
  }

  void admit(GreetedClient client) {
    if (stopping_) return;
    if (sessions_.size() >= kMaxSessions) {
      return refuse(client, {ErrorCode::busy, format("the server already has %zu sessions", kMaxSessions)});
    }
    Result<ActivityPage> page = ActivityPage::make();
    if (!page.is_ok()) return refuse(client, page.status());
    const std::string peer = peer_name(client.socket.native_handle());
    const Result<pid_t> child = start_session(client, session_options_, page.value().activity());
    if (!child.is_ok()) return refuse(client, child.status());
    // Off the event queue: what the client sends from now on is not for this process to wake up for.
    asio::error_code ignored;
    Descriptor socket(client.socket.release(ignored));
    sessions_.push_back({++last_number_, child.value(), std::move(socket), std::move(page.value())});
    log("session %llu: %s from %s", static_cast<unsigned long long>(last_number_),
        client.hello.client.substr(0, 200).c_str(), peer.c_str());
    if (sessions_.size() == 1) watch();
  }

  void refuse(GreetedClient& client, const Status& failure) {
    say_farewell(std::move(client.socket), rpc::failure_frame(client.header.tag, client.header.request, failure));
  }

  // A session that computes does not read, so it cannot notice that its client is gone. Nobody waits for its answer
  // then.
  void watch() {
    watch_.expires_after(kWatchInterval);
    watch_.async_wait([this](asio::error_code error) {
      if (error || sessions_.empty()) return;
      for (Session& session : sessions_) {
        pollfd entry{session.socket.number(), POLLRDHUP, 0};
        const bool gone = poll(&entry, 1, 0) > 0;
        // Once more, so that a session that is about to notice ends by itself.
        if (gone && session.client_seemed_gone) kill(session.process, SIGKILL);
        session.client_seemed_gone = gone;
      }
      watch();
    });
  }

  void wait_for_signal() {
    signals_.async_wait([this](asio::error_code error, int number) {
      if (error) return;
      if (number == SIGCHLD) {
        reap();
        if (!stopping_) wait_for_signal();
      } else {
        stop();
      }
    });
  }

  void reap() {
    for (auto session = sessions_.begin(); session != sessions_.end();) {
      int status = 0;
      if (waitpid(session->process, &status, WNOHANG) != session->process) {
        ++session;
        continue;
      }
      const Activity& activity = session->page.activity();
      log("session %llu: %s", static_cast<unsigned long long>(session->number),
          session->client_seemed_gone ? "its client is gone" : describe_end(activity, status).c_str());
      std::vector<std::uint8_t> frame = last_frame(activity, status);
      if (!frame.empty()) send_last_frame(session->socket, std::move(frame));
      session = sessions_.erase(session);
    }
    end_if_alone();
  }

  void send_last_frame(Descriptor& descriptor, std::vector<std::uint8_t> frame) {
    ClientSocket socket(context_);
    if (!adopt_descriptor(socket, descriptor.number())) {
      descriptor.release();
      say_farewell(std::move(socket), std::move(frame));
    }
  }

  void end_if_alone() {
    if (options_.inherited_socket >= 0 && !stopping_ && sessions_.empty() && handshakes_ == 0) stop();
  }

  void stop() {
    if (stopping_) return;
    stopping_ = true;
    for (const Session& session : sessions_) kill(session.process, SIGKILL);
    for (const Session& session : sessions_) {
      while (waitpid(session.process, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    sessions_.clear();
    asio::error_code ignored;
    signals_.cancel(ignored);
    if (acceptor_) acceptor_->close(ignored);
    retry_.cancel();
    watch_.cancel();
    // Farewells under way still go out when nobody asked for an end.
    if (options_.inherited_socket < 0) context_.stop();
  }

  [[gnu::format(printf, 2, 3)]] void log(const char* pattern, ...) const {
    if (options_.quiet) return;
    va_list arguments;
    va_start(arguments, pattern);
    std::vfprintf(stderr, pattern, arguments);
    va_end(arguments);
    std::fputc('\n', stderr);
  }

  const ServerOptions& options_;
  ModuleStore modules_;
  SessionOptions session_options_;
  // Handshakes that are cut off count themselves out while the context is destroyed, so these come first.
  std::size_t handshakes_ = 0;
  bool stopping_ = false;
  asio::io_context context_{1};
  asio::signal_set signals_{context_};
  asio::steady_timer retry_{context_};
  asio::steady_timer watch_{context_};
  std::optional<asio::ip::tcp::acceptor> acceptor_;
  std::list<Session> sessions_;
  std::uint64_t last_number_ = 0;
};

}  // namespace

Status serve(const ServerOptions& options, const DeviceFacts& facts, const WorkFolder& folder) {
  signal(SIGPIPE, SIG_IGN);
  Supervisor supervisor(options, facts, folder);
  return supervisor.run();
}

}  // namespace ferry::device
