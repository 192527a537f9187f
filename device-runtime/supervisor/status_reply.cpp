#include "device-runtime/supervisor/status_reply.h"

#include <algorithm>

#include "base/printable.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/supervisor/seen_activity.h"

namespace ferry::device {

void add_clients(rpc::StatusReply& reply, const SessionTable& table, const server::AdmissionQueue& waiting) {
  const std::int64_t now = now_ns();
  reply.sessions_ended = table.ended();
  reply.sessions_failed = table.failed();
  for (const Session& session : table.sessions()) {
    reply.sessions.push_back(
        {session.number, session.client, session.peer, to_milliseconds(now - session.watch.begin()), {}, 0});
    const SeenActivity seen = look_at(session.page.activity(), session.watch.begin());
    if (!seen.in_kernel) continue;
    reply.sessions.back().function = printable(seen.function);
    reply.sessions.back().running_ms = to_milliseconds(std::max<std::int64_t>(now - seen.started_ns, 0));
  }
  for (const server::WaitingClient& each : waiting.clients()) {
    reply.waiting.push_back({0, each.open.client, each.peer, to_milliseconds(now - each.since), {}, 0});
  }
}

}  // namespace ferry::device
