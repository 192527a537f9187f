#include "rpc/server/event_loop.h"

#include <unistd.h>

#include <utility>

namespace ferry::server {

Status EventLoop::handle_signals(std::initializer_list<int> numbers, std::function<void(int)> on_signal) {
  on_signal_ = std::move(on_signal);
  for (const int number : numbers) {
    asio::error_code error;
    signals_.add(number, error);
    if (error) return {ErrorCode::internal, "cannot handle signals: " + error.message()};
  }
  wait_for_signal();
  return {};
}

void EventLoop::no_more_signals() {
  on_signal_ = nullptr;
  asio::error_code ignored;
  signals_.cancel(ignored);
}

void EventLoop::wait_for_signal() {
  signals_.async_wait([this](asio::error_code error, int number) {
    if (error || !on_signal_) return;
    // Copied because the callback may call no_more_signals(), which destroys on_signal_.
    const auto on_signal = on_signal_;
    on_signal(number);
    if (on_signal_) wait_for_signal();
  });
}

WatchedDescriptor::WatchedDescriptor(EventLoop& loop, int descriptor) : stream_(loop.context()) {
  asio::error_code error;
  stream_.assign(descriptor, error);
  if (error) ::close(descriptor);
}

void WatchedDescriptor::close() {
  guard_.withdraw();
  asio::error_code ignored;
  stream_.close(ignored);
}

int WatchedDescriptor::release() {
  guard_.withdraw();
  return stream_.release();
}

void WatchedDescriptor::wait(asio::posix::stream_descriptor::wait_type what, Callback then) {
  stream_.async_wait(what, guard_.guard(std::move(then)));
}

void Timer::start(std::chrono::milliseconds delay, Callback then) {
  guard_.withdraw();
  timer_.expires_after(delay);
  timer_.async_wait(guard_.guard(std::move(then)));
}

void Timer::cancel() {
  guard_.withdraw();
  timer_.cancel();
}

}  // namespace ferry::server
