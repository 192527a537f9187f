#include "farm/hooks/webhook.h"

#include <fcntl.h>
#include <httplib.h>
#include <sys/socket.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>

#include "base/descriptor.h"
#include "base/format.h"

namespace ferry::farm {
namespace {

// The library writes to sockets whose peer may have closed them.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now{};
    while (sigismember(&before_, SIGPIPE) == 0 && sigtimedwait(&pipe_, nullptr, &now) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_{}, before_{};
};

// Ends a request at a point in time, whatever the server does: the library's own timeouts start again with each byte.
class RequestDeadline {
 public:
  explicit RequestDeadline(std::chrono::steady_clock::time_point end) : thread_([this, end] { wait(end); }) {}
  ~RequestDeadline() {
    {
      const std::lock_guard lock(mutex_);
      is_done_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  RequestDeadline(const RequestDeadline&) = delete;
  RequestDeadline& operator=(const RequestDeadline&) = delete;

  void watch(int socket) {
    const std::lock_guard lock(mutex_);
    socket_ = Descriptor(fcntl(socket, F_DUPFD_CLOEXEC, 0));
    if (has_passed_ && socket_.number() >= 0) shutdown(socket_.number(), SHUT_RDWR);
  }
  bool has_passed() {
    const std::lock_guard lock(mutex_);
    return has_passed_;
  }

 private:
  void wait(std::chrono::steady_clock::time_point end) {
    std::unique_lock lock(mutex_);
    if (wake_.wait_until(lock, end, [this] { return is_done_; })) return;
    has_passed_ = true;
    if (socket_.number() >= 0) shutdown(socket_.number(), SHUT_RDWR);
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  Descriptor socket_;
  bool is_done_ = false, has_passed_ = false;
  std::thread thread_;
};

}  // namespace

Status post_json(const WebhookUrl& url, const std::string& json, std::chrono::milliseconds timeout) {
  const WithoutSigpipe without_sigpipe;
  httplib::Client client(url.server);
  if (!client.is_valid()) return {ErrorCode::invalid_argument, format("%s: expected a server", url.server.c_str())};
  // Later than the deadline, which says what happened.
  const std::chrono::milliseconds library_timeout = timeout + std::chrono::seconds(1);
  client.set_connection_timeout(library_timeout);
  client.set_read_timeout(library_timeout);
  client.set_write_timeout(library_timeout);
  client.set_follow_location(false);
  RequestDeadline deadline(std::chrono::steady_clock::now() + timeout);
  client.set_socket_options([&](socket_t socket) {
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    deadline.watch(socket);
  });

  httplib::Request request;
  request.method = "POST";
  request.path = url.path;
  request.headers = {{"Content-Type", "application/json"}, {"User-Agent", "ferry"}, {"Connection", "close"}};
  request.body = json;
  // The status is all that matters, so the body is not read.
  std::optional<int> status;
  request.response_handler = [&](const httplib::Response& response) {
    status = response.status;
    return false;
  };
  const httplib::Result result = client.send(request);
  if (result) status = result->status;  // 204 and 304 have no body and do not come to the handler
  if (status && *status >= 200 && *status < 300) return {};
  if (status) return {ErrorCode::unavailable, format("%s answered with status %d", url.server.c_str(), *status)};
  if (deadline.has_passed())
    return {ErrorCode::deadline_exceeded, format("%s did not answer within %g s", url.server.c_str(),
                                                 std::chrono::duration<double>(timeout).count())};
  return {ErrorCode::unavailable,
          format("cannot reach %s (%s)", url.server.c_str(), httplib::to_string(result.error()).c_str())};
}

}  // namespace ferry::farm
