#include "device-runtime/supervisor/session_table.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "device-runtime/measure/clock.h"
#include "device-runtime/supervisor/background.h"
#include "module/device_id.h"
#include "rpc/transport/keepalive.h"

namespace ferry::device {
namespace {

// Interval of checks if no limit ends sooner.
constexpr std::int64_t kWatchInterval = 300 * kNanosecondsPerMs;
// A session is being confined at first, while its client waits; it cannot have used much that would be worth looking
// for.
constexpr std::int64_t kBeginning = 10 * kNanosecondsPerMs;
// Delay between detecting that a client is gone and ending its session, which may be about to end by itself.
constexpr std::int64_t kGoneGrace = 200 * kNanosecondsPerMs;
// Delay between SIGTERM and SIGKILL.
constexpr std::int64_t kTermGrace = 500 * kNanosecondsPerMs;

// Sets what the sandbox of a session depends on the client for.
void fit_sandbox(SandboxOptions& sandbox, const rpc::TimeLimits& limits, const rpc::Open& open) {
  // For all threads together and the one that opens encrypted records, plus a margin for time outside of kernels.
  sandbox.cpu_seconds = limits.session_ms / 1000 * (sandbox.threads + 1);
  if (sandbox.cpu_seconds != 0) sandbox.cpu_seconds += 10;
  sandbox.filter = Filter::strict;
  sandbox.inspectable = sandbox.inspectable || open.wait_for_debugger;
  for (const std::string& name : open.devices) {
    const Result<DeviceId> id = parse_device_id(name);
    if (id.is_ok() && id.value().kind != DeviceKind::cpu) sandbox.filter = Filter::gpu;
  }
}

// Processes of a GPU's driver may still run for a moment, and what a GPU's session may call includes setsockopt.
server::CloseSocket closer(const Session& session) { return session.has_gpu ? close_elsewhere : server::close_at_once; }

void note_left(Session& session) {
  session.over = {ErrorCode::unavailable, "its client is gone"};
  session.is_left = true;
}

}  // namespace

void SessionTable::start(server::WaitingClient waiting, SessionOptions options) {
  server::HandshakenClient& client = waiting.client;
  if (is_peer_gone(client.socket.number())) return;
  Result<ActivityPage> page = pages_.take();
  if (!page.is_ok()) return final_frames_.refuse(client, page.status());
  options.limits = granted(waiting.open.limits, options.limits);
  SandboxOptions& sandbox = options.sandbox;
  fit_sandbox(sandbox, options.limits, waiting.open);
  sandbox.folder = folder_.make_session_folder(last_number_ + 1, sandbox.user, sandbox.group);
  SessionOutput output(loop_, log_, last_number_ + 1);
  FileService files(loop_, caches_, cleaners_);
  // Debuggers and profilers look for kernels in the session's own process.
  Descriptor memory;
  if (isolates_ && sandbox.filter == Filter::strict && !sandbox.inspectable) {
    // The server of such an object serves one session.
    memory = options.clients_object >= 0 ? Descriptor(options.clients_object)
                                         : make_shared_object(shared_object_bytes(options.facts.memory_limit_bytes));
  }
  const SessionEnds ends{output.writer(), files.session_end(), caches_.largest(), memory.number()};
  const Result<pid_t> child = start_session(client, options, page.value(), secrets_, memory_killer_, ends);
  output.close_writer();
  files.close_session_end();
  if (!child.is_ok()) {
    cleaners_.start(sandbox.folder, !sessions_.empty());
    return final_frames_.refuse(client, child.status());
  }
  ++last_number_;
  log_.line("session %llu: %s from %s", static_cast<unsigned long long>(last_number_), waiting.open.client.c_str(),
            waiting.peer.c_str());
  sessions_.push_back(
      {last_number_, child.value(), std::move(client.socket), std::move(client.secure), std::move(page.value()),
       std::move(waiting.open.client), std::move(waiting.peer), sandbox.folder, SessionWatch(options.limits, now_ns()),
       std::make_unique<SessionUsage>(child.value(), sandbox, memory.number()), TimeClaims(sandbox.threads),
       std::move(output), std::move(files), sandbox.filter == Filter::gpu});
}

std::int64_t SessionTable::watch() {
  const std::int64_t now = now_ns();
  std::int64_t wait_ns = kWatchInterval;
  for (Session& session : sessions_) {
    watch(session, now);
    wait_ns = std::min(wait_ns, session.watch.ns_until_next_limit());
  }
  return std::max<std::int64_t>(wait_ns, 0);
}

void SessionTable::watch(Session& session, std::int64_t now) {
  const SeenActivity seen = look_at(session.page.activity(), session.watch.begin());
  const std::int64_t seen_by = now_ns();
  Status over = seen.is_damaged ? damaged_activity() : session.watch.check(seen, session.socket.number(), now);
  const bool is_beginning = now - session.watch.begin() < kBeginning;
  if (over.is_ok() && !is_beginning) over = session.usage->check();
  // A GPU measures its times itself.
  if (over.is_ok() && !is_beginning && !session.has_gpu) {
    const std::optional<std::int64_t> busy_ns = processor_time_of(session.process);
    if (busy_ns) over = session.claims.check(seen, now, seen_by, *busy_ns);
  }
  if (session.usage->is_headless()) {
    session.is_headless = true;
    signal_session(session.process, SIGKILL);
  }
  if (!over.is_ok() && session.over.is_ok()) {
    session.over = over;
    session.limit = session.watch.exceeded();
    session.kill_at = now + kTermGrace;
    signal_session(session.process, SIGTERM);
  }
  if (!is_peer_gone(session.socket.number())) {
    session.gone_since = 0;
  } else if (session.gone_since == 0) {
    session.gone_since = now;
  } else if (now - session.gone_since > kGoneGrace) {
    if (session.over.is_ok()) note_left(session);
    signal_session(session.process, SIGKILL);
  }
  if (session.kill_at != 0 && now > session.kill_at) signal_session(session.process, SIGKILL);
}

std::vector<SessionReport> SessionTable::reap() {
  std::vector<SessionReport> reports;
  for (auto session = sessions_.begin(); session != sessions_.end();) {
    const std::optional<int> status = reap_session(session->process);
    if (!status) {
      ++session;
      continue;
    }
    // It may also have been about to end for another reason.
    if (session->is_headless && session->over.is_ok() && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL)
      session->over = {ErrorCode::kernel_crashed, "a kernel has ended the first thread of its session"};
    const Activity& activity = session->page.activity();
    const bool is_left = session->is_left || (session->over.is_ok() && is_peer_gone(session->socket.number()));
    const EndedSession ended{
        activity, look_at(activity, session->watch.begin()), *status, session->over, session->limit, is_left};
    ++ended_;
    failed_ += ended_well(ended) ? 0 : 1;
    session->output.finish();
    log_.line("session %llu: %s", static_cast<unsigned long long>(session->number), describe_end(ended).c_str());
    std::vector<std::uint8_t> frame = last_frame(ended, session->secure.get());
    const server::CloseSocket close = closer(*session);
    if (frame.empty()) {
      close(session->socket.release());
    } else {
      final_frames_.send(session->socket, std::move(frame), close);
    }
    cleaners_.start(session->folder, sessions_.size() > 1);
    const std::uint64_t length_ms = to_milliseconds(now_ns() - session->watch.begin());
    reports.push_back({std::move(session->client), length_ms, describe_failure(ended)});
    session = sessions_.erase(session);
  }
  cleaners_.reap();
  return reports;
}

void SessionTable::end_all(const Status& why) {
  for (Session& session : sessions_) {
    // A client that leaves and gives its lease back at once has ended the session itself.
    if (session.over.is_ok() && is_peer_gone(session.socket.number())) note_left(session);
    if (session.over.is_ok()) session.over = why;
    signal_session(session.process, SIGKILL);
  }
}

void SessionTable::stop() {
  for (const Session& session : sessions_) signal_session(session.process, SIGKILL);
  for (const Session& session : sessions_) {
    while (waitpid(session.process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  for (Session& session : sessions_) {
    closer(session)(session.socket.release());
    cleaners_.start(session.folder, false);
  }
  sessions_.clear();
}

}  // namespace ferry::device
