// The supervisor's only way to wait: for descriptors, for a time, for signals. A loop around poll(2): Asio, which did
// this before, costs a static server 40 KB, and there are only ever a few hundred descriptors.
//
// Single-threaded: callbacks run inside run(), one after the other. A callback is kept by the loop until it was called
// or its object cancelled it, and is destroyed between callbacks, never inside of one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

#include "device-runtime/supervisor/descriptor.h"
#include "rpc/base/status.h"

namespace ferry::device {

using Callback = std::function<void()>;

class EventLoop {
 public:
  EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  // Calls on_signal(number) for each of these signals, as often as they come, until no_more_signals(). They are blocked
  // from here on; those that come together while others are handled may be told once.
  Status handle_signals(std::initializer_list<int> numbers, std::function<void(int)> on_signal);
  void no_more_signals() { signals_ = Descriptor(); }

  // Returns when nothing is waited for any more, or after stop().
  void run();
  void stop() { stopped_ = true; }

 private:
  friend class WatchedDescriptor;
  friend class Timer;
  using Clock = std::chrono::steady_clock;
  struct Wait {
    std::uint64_t id;
    int descriptor;  // -1: a timer
    short events;
    Clock::time_point when;
    Callback then;
  };

  std::uint64_t add(Wait wait);
  void cancel(std::uint64_t id);
  void cancel_all_of(int descriptor);
  void drop_cancelled();
  void take_signals();

  std::vector<Wait> waits_;
  std::vector<Callback> cancelled_;  // their objects may be running
  std::uint64_t last_id_ = 0;
  Descriptor signals_;
  std::function<void(int)> on_signal_;
  bool stopped_ = false;
};

// A descriptor that can be waited for. Closes it at the end.
class WatchedDescriptor {
 public:
  // Takes over the descriptor.
  WatchedDescriptor(EventLoop& loop, int descriptor) : loop_(loop), descriptor_(descriptor) {}
  WatchedDescriptor(const WatchedDescriptor&) = delete;
  WatchedDescriptor& operator=(const WatchedDescriptor&) = delete;
  ~WatchedDescriptor() { close(); }

  // Calls back once. Not at all when the descriptor is closed or released first.
  void when_readable(Callback then);
  void when_writable(Callback then);

  int number() const { return descriptor_.number(); }
  bool is_open() const { return number() >= 0; }
  void close() { Descriptor closing(release()); }
  // The descriptor is the caller's again.
  int release();

 private:
  EventLoop& loop_;
  Descriptor descriptor_;
};

class Timer {
 public:
  explicit Timer(EventLoop& loop) : loop_(loop) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { cancel(); }

  // Calls back once, unless cancelled or started anew before.
  void start(std::chrono::milliseconds delay, Callback then);
  void cancel() { loop_.cancel(id_); }

 private:
  EventLoop& loop_;
  std::uint64_t id_ = 0;
};

}  // namespace ferry::device
