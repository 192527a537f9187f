#include "farm/web/connections.h"

#include <sys/socket.h>

#include <system_error>

namespace ferry::farm::http {

Connections::Connections(std::size_t threads, std::size_t for_strangers, std::function<void(Arrival&)> serve,
                         std::function<void(Descriptor)> done)
    : for_strangers_(for_strangers), serve_(std::move(serve)), done_(std::move(done)) {
  threads_.reserve(threads);
  try {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    stop();
    throw;
  }
}

void Connections::add(Arrival arrival, bool is_known) {
  const std::lock_guard lock(mutex_);
  std::deque<Arrival>& waiting = is_known ? known_ : strangers_;
  if (stopping_ || waiting.size() >= kWaiting) return;
  waiting.push_back(std::move(arrival));
  changed_.notify_one();
}

void Connections::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !known_.empty() || may_serve_stranger(); });
    if (stopping_) return;
    const bool is_known = !known_.empty();
    std::deque<Arrival>& waiting = is_known ? known_ : strangers_;
    Arrival arrival = std::move(waiting.front());
    waiting.pop_front();
    const int connection = arrival.connection.number();
    served_.insert(connection);
    if (!is_known) ++strangers_served_;
    lock.unlock();
    serve_(arrival);
    lock.lock();
    // Its number may be that of another connection from here on.
    served_.erase(connection);
    done_(std::move(arrival.connection));
    if (is_known) continue;
    --strangers_served_;
    // Those who have found no thread for strangers.
    changed_.notify_one();
  }
}

void Connections::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    known_.clear();
    strangers_.clear();
    for (const int connection : served_) ::shutdown(connection, SHUT_RDWR);
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace ferry::farm::http
