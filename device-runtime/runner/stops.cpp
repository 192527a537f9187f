#include "device-runtime/runner/stops.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

namespace ferry::device {

Stops::Received ReportedStops::receive(const Descriptor& from, Stop& stop) {
  seccomp_notif notice{};
  if (ioctl(from.number(), SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0) {
    // The thread was interrupted by a signal, and will stop again.
    return errno == ENOENT || errno == EINTR ? Received::nothing : Received::failure;
  }
  stop = {notice.id, static_cast<pid_t>(notice.pid) == runner_, static_cast<Notice>(notice.data.args[0]),
          static_cast<std::int32_t>(notice.data.args[1])};
  return Received::stop;
}

bool ReportedStops::answer(const Stop& stop) {
  seccomp_notif_resp response{};
  response.id = stop.id;
  return ioctl(listener_.number(), SECCOMP_IOCTL_NOTIF_SEND, &response) == 0;
}

Stops::Received ToldStops::receive(const Descriptor& from, Stop& stop) {
  StopMessage message;
  const ssize_t count = recv(from.number(), &message, sizeof message, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Received::nothing;
  if (count != sizeof message) return Received::failure;
  const bool is_first = from.number() == sockets_[0].number();
  stop = {is_first ? std::uint64_t{1} : 2, is_first, message.notice, message.result};
  return Received::stop;
}

bool ToldStops::answer(const Stop& stop) {
  const char go_on = 0;
  // A thread that does not read what it is told may not keep its judge waiting.
  constexpr int kFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
  return send(sockets_[stop.is_first ? 0 : 1].number(), &go_on, sizeof go_on, kFlags) == sizeof go_on;
}

bool ToldStops::is_quiet() const {
  pollfd entries[] = {{sockets_[0].number(), POLLIN, 0}, {sockets_[1].number(), POLLIN, 0}};
  return poll(entries, 2, 0) == 0;
}

}  // namespace ferry::device
