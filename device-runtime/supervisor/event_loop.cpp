#include "device-runtime/supervisor/event_loop.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ferry::device {

EventLoop::~EventLoop() {
  // What goes with a callback may cancel others as it goes.
  while (!waits_.empty() || !cancelled_.empty()) {
    const std::vector<Wait> waits = std::exchange(waits_, {});
    drop_cancelled();
  }
}

Status EventLoop::handle_signals(std::initializer_list<int> numbers, std::function<void(int)> on_signal) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (signals_.number() < 0) return {ErrorCode::internal, std::string("cannot handle signals: ") + strerror(errno)};
  on_signal_ = std::move(on_signal);
  return {};
}

std::uint64_t EventLoop::add(Wait wait) {
  wait.id = ++last_id_;
  waits_.push_back(std::move(wait));
  return last_id_;
}

void EventLoop::cancel(std::uint64_t id) {
  const auto wait = std::find_if(waits_.begin(), waits_.end(), [id](const Wait& each) { return each.id == id; });
  if (wait == waits_.end()) return;
  cancelled_.push_back(std::move(wait->then));
  waits_.erase(wait);
}

void EventLoop::cancel_all_of(int descriptor) {
  for (std::size_t i = waits_.size(); i-- > 0;) {
    if (waits_[i].descriptor == descriptor) cancel(waits_[i].id);
  }
}

void EventLoop::drop_cancelled() {
  while (!cancelled_.empty()) const std::vector<Callback> dropped = std::exchange(cancelled_, {});
}

void EventLoop::take_signals() {
  signalfd_siginfo info{};
  while (signals_.number() >= 0 && read(signals_.number(), &info, sizeof info) == sizeof info) {
    on_signal_(static_cast<int>(info.ssi_signo));
  }
}

void EventLoop::run() {
  stopped_ = false;
  std::vector<pollfd> entries;
  std::vector<std::uint64_t> ids;
  while (!stopped_ && (!waits_.empty() || signals_.number() >= 0)) {
    entries.assign(1, {signals_.number(), POLLIN, 0});
    ids.assign(1, 0);
    const Clock::time_point now = Clock::now();
    std::chrono::milliseconds patience = std::chrono::hours(1);
    for (const Wait& wait : waits_) {
      if (wait.descriptor < 0) {
        patience = std::min(patience, std::chrono::ceil<std::chrono::milliseconds>(wait.when - now));
      }
      entries.push_back({wait.descriptor, wait.events, 0});
      ids.push_back(wait.id);
    }
    (void)poll(entries.data(), entries.size(), static_cast<int>(std::max<std::int64_t>(patience.count(), 0)));
    if (entries[0].revents != 0) take_signals();
    const Clock::time_point then = Clock::now();
    for (std::size_t i = 1; i < ids.size() && !stopped_; ++i) {
      const auto wait = std::find_if(waits_.begin(), waits_.end(), [&](const Wait& each) { return each.id == ids[i]; });
      if (wait == waits_.end()) continue;
      if (entries[i].revents == 0 && (wait->descriptor >= 0 || wait->when > then)) continue;
      const Callback callback = std::move(wait->then);
      waits_.erase(wait);
      callback();
    }
    drop_cancelled();
  }
}

void WatchedDescriptor::when_readable(Callback then) { loop_.add({0, number(), POLLIN, {}, std::move(then)}); }

void WatchedDescriptor::when_writable(Callback then) { loop_.add({0, number(), POLLOUT, {}, std::move(then)}); }

int WatchedDescriptor::release() {
  if (is_open()) loop_.cancel_all_of(number());
  return descriptor_.release();
}

void Timer::start(std::chrono::milliseconds delay, Callback then) {
  cancel();
  id_ = loop_.add({0, -1, 0, EventLoop::Clock::now() + delay, std::move(then)});
}

}  // namespace ferry::device
