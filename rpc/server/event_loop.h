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

#include "base/status.h"

namespace ferry::server {

using Callback = std::function<void()>;

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

  // Both call back once, or never if the descriptor is closed or released first.
  void when_readable(Callback then) { wait(asio::posix::stream_descriptor::wait_read, std::move(then)); }
  void when_writable(Callback then) { wait(asio::posix::stream_descriptor::wait_write, std::move(then)); }

  int number() const { return const_cast<asio::posix::stream_descriptor&>(stream_).native_handle(); }
  bool is_open() const { return stream_.is_open(); }
  void close();
  // Returns ownership of the descriptor to the caller.
  int release() { return stream_.release(); }

 private:
  void wait(asio::posix::stream_descriptor::wait_type what, Callback then);

  asio::posix::stream_descriptor stream_;
};

class Timer {
 public:
  explicit Timer(EventLoop& loop) : timer_(loop.context()) {}

  // Calls back once, unless the timer is cancelled or restarted before.
  void start(std::chrono::milliseconds delay, Callback then);
  void cancel() { timer_.cancel(); }

 private:
  asio::steady_timer timer_;
};

}  // namespace ferry::server
