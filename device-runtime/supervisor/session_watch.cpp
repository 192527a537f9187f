#include "device-runtime/supervisor/session_watch.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>

#include "base/format.h"

namespace ferry::device {
namespace {

constexpr std::int64_t kForever = std::int64_t{1} << 62;

std::uint64_t smaller(std::uint64_t wish, std::uint64_t most) {
  if (wish == 0 || most == 0) return std::max(wish, most);
  return std::min(wish, most);
}

// Returns false if the system does not report it or the socket is not TCP.
bool read_tcp_info(int socket, tcp_info& info) {
  socklen_t length = sizeof info;
  return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
         length >= offsetof(tcp_info, tcpi_last_ack_recv) + sizeof info.tcpi_last_ack_recv;
}

const char* name_of(TimeLimit limit) {
  switch (limit) {
    case TimeLimit::call: return "a call";
    case TimeLimit::session: return "a session";
    case TimeLimit::idle: return "doing nothing";
  }
  return "";
}

}  // namespace

rpc::TimeLimits granted(const rpc::TimeLimits& wished, const rpc::TimeLimits& most) {
  return {smaller(wished.call_ms, most.call_ms), smaller(wished.session_ms, most.session_ms),
          smaller(wished.idle_ms, most.idle_ms)};
}

bool SessionWatch::is_over(std::uint64_t limit_ms, std::int64_t since, std::int64_t now) {
  // A limit beyond the range of the clock is no limit.
  if (limit_ms == 0 || limit_ms > static_cast<std::uint64_t>(kForever / kNanosecondsPerMs)) return false;
  const std::int64_t left = since + static_cast<std::int64_t>(limit_ms) * kNanosecondsPerMs - now;
  until_next_limit_ = std::min(until_next_limit_, left);
  return left <= 0;
}

Status SessionWatch::too_long(const SeenActivity& seen, TimeLimit limit, std::uint64_t limit_ms, std::int64_t since,
                              std::int64_t now) {
  const std::uint64_t running_ms =
      seen.in_kernel ? std::max<std::uint64_t>(to_milliseconds(now - request_start_), 1) : 0;
  exceeded_ = {seen.request, limit, limit_ms, running_ms};
  return {ErrorCode::deadline_exceeded,
          format("%s was stopped after %.1f s: the limit of %s is %.1f s",
                 seen.in_kernel ? seen.function.c_str() : "the session", static_cast<double>(now - since) * 1e-9,
                 name_of(limit), static_cast<double>(limit_ms) * 1e-3)};
}

Status SessionWatch::check(const SeenActivity& seen, int socket, std::int64_t now) {
  until_next_limit_ = kForever;
  exceeded_.reset();
  const bool is_new = seen.started_ns != request_seen_, computes = seen.in_kernel;
  if (is_new) {
    request_seen_ = seen.started_ns;
    request_start_ = std::clamp(seen.started_ns, looked_, std::max(looked_, now));
  }
  looked_ = now;
  if (computes || is_new) {
    active_ = now;
  } else if (tcp_info info{}; read_tcp_info(socket, info)) {
    const std::int64_t quiet_ms = std::min(info.tcpi_last_data_recv, info.tcpi_last_data_sent);
    active_ = std::max(active_, now - quiet_ms * kNanosecondsPerMs);
  } else if (seen.request != 0) {
    active_ = now;
  }
  // A call that begins right after this check must get its whole limit.
  if (is_over(limits_.call_ms, computes ? request_start_ : now, now)) {
    return too_long(seen, TimeLimit::call, limits_.call_ms, request_start_, now);
  }
  if (is_over(limits_.session_ms, begin_, now))
    return too_long(seen, TimeLimit::session, limits_.session_ms, begin_, now);
  if (is_over(limits_.idle_ms, active_, now)) return too_long(seen, TimeLimit::idle, limits_.idle_ms, active_, now);
  return {};
}

}  // namespace ferry::device
