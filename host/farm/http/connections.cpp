#include "host/farm/http/connections.h"

#include <sys/socket.h>

#include <system_error>

namespace ferry::farm::http {

Connections::Connections(std::size_t threads, std::function<void(Arrival&)> serve) : serve_(std::move(serve)) {
  threads_.reserve(threads);
  try {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    stop();
    throw;
  }
}

void Connections::add(Arrival arrival) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || waiting_.size() >= kWaiting) return;
  waiting_.push_back(std::move(arrival));
  changed_.notify_one();
}

void Connections::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    Arrival arrival = std::move(waiting_.front());
    waiting_.pop_front();
    served_.insert(arrival.connection.number());
    lock.unlock();
    serve_(arrival);
    lock.lock();
    served_.erase(arrival.connection.number());
  }
}

void Connections::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    waiting_.clear();
    for (const int connection : served_) ::shutdown(connection, SHUT_RDWR);
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace ferry::farm::http
