// The only way in which a server waits: for descriptors, for timers and for signals. This is a thin layer over
// Asio that erases the types of callbacks, so that Asio's templates are instantiated once instead of at every use,
// which would cost rpc_server 60 KB.
//
// Single-threaded: callbacks run inside run(), one after the other.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>

#include "base/status.h"

namespace ferry::server {

using Callback = std::function<void()>;

// Whether the callbacks of one object may still be called. Asio does not withdraw those that it has queued already,
// such as that of a timer that expires in the same moment as the one whose callback cancels it.
class CallbackGuard {
 public:
  CallbackGuard() = default;
  CallbackGuard(CallbackGuard&&) noexcept = default;
  CallbackGuard& operator=(CallbackGuard&&) = delete;
  ~CallbackGuard() { withdraw(); }

  // The callback for Asio. It does nothing if the wait has failed or was withdrawn.
  auto guard(Callback callback) {
    if (!is_wanted_) is_wanted_ = std::make_shared<bool>(true);
    return [callback = std::move(callback), is_wanted = is_wanted_](asio::error_code error) {
      if (!error && *is_wanted) callback();
    };
  }
  // Callbacks made so far are not called any more.
  void withdraw() {
    if (is_wanted_) *is_wanted_ = false;
    is_wanted_.reset();
  }

 private:
  std::shared_ptr<bool> is_wanted_;
};

class EventLoop {
 public:
  EventLoop() : context_(1), signals_(context_) {}
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls on_signal(number) whenever one of these signals arrives, until no_more_signals().
  Status handle_signals(std::initializer_list<int> numbers, std::function<void(int)> on_signal);
  void no_more_signals();

  // Returns once nothing is being waited for, or after stop().
  void run() { context_.run(); }
  void stop() { context_.stop(); }

  asio::io_context& context() { return context_; }

 private:
  void wait_for_signal();

  asio::io_context context_;
  asio::signal_set signals_;
  std::function<void(int)> on_signal_;
};

// Owns a descriptor and waits for it. The destructor closes it.
class WatchedDescriptor {
 public:
  // Takes ownership of the descriptor. One that the system cannot wait for is closed, and its callbacks are never
  // called.
  WatchedDescriptor(EventLoop& loop, int descriptor);
  WatchedDescriptor(WatchedDescriptor&&) noexcept = default;
  WatchedDescriptor& operator=(WatchedDescriptor&&) = delete;

  // Both call back once, or never if the descriptor is closed, released or destroyed first.
  void when_readable(Callback then) { wait(asio::posix::stream_descriptor::wait_read, std::move(then)); }
  void when_writable(Callback then) { wait(asio::posix::stream_descriptor::wait_write, std::move(then)); }

  int number() const { return const_cast<asio::posix::stream_descriptor&>(stream_).native_handle(); }
  bool is_open() const { return stream_.is_open(); }
  void close();
  // Returns ownership of the descriptor to the caller.
  int release();

 private:
  void wait(asio::posix::stream_descriptor::wait_type what, Callback then);

  asio::posix::stream_descriptor stream_;
  CallbackGuard guard_;
};

class Timer {
 public:
  explicit Timer(EventLoop& loop) : timer_(loop.context()) {}

  // Calls back once, unless the timer is cancelled, restarted or destroyed before.
  void start(std::chrono::milliseconds delay, Callback then);
  void cancel();

 private:
  asio::steady_timer timer_;
  CallbackGuard guard_;
};

}  // namespace ferry::server
