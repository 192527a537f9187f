#include "farm/store/change_watch.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <utility>

#include "farm/store/postgres_connection.h"

namespace ferry::farm {
namespace {

constexpr int kRetryMilliseconds = 1000;

}  // namespace

ChangeWatch::ChangeWatch(std::string uri, std::function<void()> on_change)
    : uri_(std::move(uri)),
      on_change_(std::move(on_change)),
      end_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { loop(); }) {}

ChangeWatch::~ChangeWatch() {
  eventfd_write(end_.number(), 1);
  thread_.join();
}

void ChangeWatch::loop() {
  pollfd end{end_.number(), POLLIN, 0};
  do {
    // Whoever needs the database says what is wrong with it.
    static_cast<void>(listen());
  } while (poll(&end, 1, kRetryMilliseconds) == 0);
}

Status ChangeWatch::listen() {
  FERRY_ASSIGN(const auto connection, PostgresConnection::open(uri_));
  FERRY_TRY(connection->listen());
  on_change_();
  while (wait(connection->socket())) {
    FERRY_ASSIGN(const bool has_changed, connection->take_changes());
    if (has_changed) on_change_();
  }
  return {};
}

bool ChangeWatch::wait(int socket) const {
  pollfd events[] = {{end_.number(), POLLIN, 0}, {socket, POLLIN, 0}};
  return poll(events, 2, -1) > 0 && events[0].revents == 0;
}

}  // namespace ferry::farm
