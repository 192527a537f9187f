#include "device-runtime/supervisor/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <list>
#include <optional>

#include "device-runtime/supervisor/event_loop.h"
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
    FERRY_TRY(loop_.handle_signals({SIGINT, SIGTERM, SIGHUP, SIGCHLD},
                                   [this](int number) { number == SIGCHLD ? reap() : stop(); }));
    FERRY_TRY(options_.inherited_socket >= 0 ? adopt() : listen());
    loop_.run();
    return {};
  }

 private:
  Status listen() {
    FERRY_ASSIGN(Descriptor listener, listen_at(options_.host, options_.port, options_.port_end));
    std::printf("rpc_server listening on %s\n", own_name(listener.number()).c_str());
    std::fflush(stdout);
    listener_.emplace(loop_, listener.release());
    accept();
    return {};
  }

  Status adopt() {
    struct stat info{};
    if (fstat(options_.inherited_socket, &info) != 0 || !S_ISSOCK(info.st_mode)) {
      return {ErrorCode::invalid_argument,
              format("--fd: expected a connected socket, got %d", options_.inherited_socket)};
    }
    greet(options_.inherited_socket);
    return {};
  }

  void accept() {
    listener_->when_readable([this] {
      const int socket = accept4(listener_->number(), nullptr, nullptr, SOCK_CLOEXEC);
      // Out of descriptors, most likely: sessions that end give some back.
      if (socket < 0 && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) {
        return retry_.start(kAcceptRetry, [this] { accept(); });
      }
      if (socket >= 0) {
        handshakes_ < kMaxHandshakes ? greet(socket) : static_cast<void>(close(socket));
      }
      accept();
    });
  }

  void greet(int socket) {
    ++handshakes_;
    begin_handshake(
        loop_, socket, [this](GreetedClient client) { admit(std::move(client)); },
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
    const std::string peer = peer_name(client.socket.number());
    const Result<pid_t> child = start_session(client, session_options_, page.value().activity());
    if (!child.is_ok()) return refuse(client, child.status());
    sessions_.push_back({++last_number_, child.value(), std::move(client.socket), std::move(page.value())});
    log("session %llu: %s from %s", static_cast<unsigned long long>(last_number_),
        client.hello.client.substr(0, 200).c_str(), peer.c_str());
    if (sessions_.size() == 1) watch();
  }

  void refuse(GreetedClient& client, const Status& failure) {
    say_farewell(loop_, client.socket.release(), rpc::failure_frame(client.header.tag, client.header.request, failure));
  }

  // A session that computes does not read, so it cannot notice that its client is gone. Nobody waits for its answer
  // then.
  void watch() {
    watch_.start(kWatchInterval, [this] {
      if (sessions_.empty()) return;
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
      if (!frame.empty()) say_farewell(loop_, session->socket.release(), std::move(frame));
      session = sessions_.erase(session);
    }
    end_if_alone();
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
    loop_.no_more_signals();
    if (listener_) listener_->close();
    retry_.cancel();
    watch_.cancel();
    // Farewells under way still go out when nobody asked for an end.
    if (options_.inherited_socket < 0) loop_.stop();
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
  // Handshakes that are cut off count themselves out while the loop is destroyed, so these come first.
  std::size_t handshakes_ = 0;
  bool stopping_ = false;
  EventLoop loop_;
  Timer retry_{loop_};
  Timer watch_{loop_};
  std::optional<WatchedDescriptor> listener_;
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
