#include "device-runtime/runner/stops.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <span>
#include <utility>

#include "device-runtime/measure/clock.h"

namespace ferry::device {
namespace {

// Returns the number of a descriptor that can be read; nothing if none can and the runner has ended.
std::optional<std::size_t> wait_for_one(std::span<const Descriptor> descriptors, const Descriptor& runner) {
  pollfd entries[3] = {{runner.number(), POLLIN, 0}};
  for (std::size_t i = 0; i < descriptors.size(); ++i) entries[i + 1] = {descriptors[i].number(), POLLIN, 0};
  while (poll(entries, 1 + descriptors.size(), -1) < 0)
    if (errno != EINTR) return std::nullopt;
  for (std::size_t i = 0; i < descriptors.size(); ++i)
    if ((entries[i + 1].revents & POLLIN) != 0) return i;
  return std::nullopt;
}

}  // namespace

std::optional<Stop> ReportedStops::next(const Descriptor& runner) {
  while (wait_for_one({&listener_, 1}, runner)) {
    const std::int64_t at_ns = now_ns();
    seccomp_notif notice{};
    if (ioctl(listener_.number(), SECCOMP_IOCTL_NOTIF_RECV, &notice) == 0)
      return Stop{notice.id, static_cast<pid_t>(notice.pid) == runner_, at_ns};
    // The thread was interrupted by a signal, and will stop again.
    if (errno != ENOENT && errno != EINTR) break;
  }
  return std::nullopt;
}

bool ReportedStops::answer(const Stop& stop) {
  seccomp_notif_resp response{};
  response.id = stop.id;
  return ioctl(listener_.number(), SECCOMP_IOCTL_NOTIF_SEND, &response) == 0;
}

std::optional<Stop> TracedStops::wait() {
  const pid_t thread = zygote_.wait_for_stop(runner_, std::exchange(goes_on_, 0));
  if (thread <= 0) return std::nullopt;
  return Stop{static_cast<std::uint64_t>(thread), thread == runner_, now_ns()};
}

void TracedStops::wait_for_first() {
  while (const std::optional<Stop> stop = wait()) {
    early_.push_back(*stop);
    if (stop->is_first) return;
  }
}

std::optional<Stop> TracedStops::next(const Descriptor&) {
  if (early_.empty()) return wait();
  const Stop stop = early_.back();
  early_.pop_back();
  return stop;
}

bool TracedStops::answer(const Stop& stop) {
  const pid_t before = std::exchange(goes_on_, static_cast<pid_t>(stop.id));
  return before == 0 || zygote_.let_go_on(before);
}

std::optional<Stop> ToldStops::next(const Descriptor& runner) {
  while (const auto from = wait_for_one(sockets_, runner)) {
    const std::int64_t at_ns = now_ns();
    StopMessage said;
    const ssize_t count = recv(sockets_[*from].number(), &said, sizeof said, MSG_DONTWAIT);
    if (count == sizeof said) return Stop{*from + 1, *from == 0, at_ns};
    if (count >= 0 || (errno != EAGAIN && errno != EINTR)) break;
  }
  return std::nullopt;
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
