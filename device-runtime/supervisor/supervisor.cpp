#include "device-runtime/supervisor/supervisor.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <list>
#include <memory>
#include <optional>

#include "base/format.h"
#include "base/printable.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/supervisor/admission_queue.h"
#include "device-runtime/supervisor/cleaners.h"
#include "device-runtime/supervisor/device_list.h"
#include "device-runtime/supervisor/event_loop.h"
#include "device-runtime/supervisor/final_frame.h"
#include "device-runtime/supervisor/handshake.h"
#include "device-runtime/supervisor/listen.h"
#include "device-runtime/supervisor/memory_killer.h"
#include "device-runtime/supervisor/server_log.h"
#include "device-runtime/supervisor/session_output.h"
#include "device-runtime/supervisor/session_process.h"
#include "device-runtime/supervisor/session_usage.h"
#include "device-runtime/supervisor/session_watch.h"
#include "device-runtime/supervisor/stdio_relay.h"
#include "rpc/transport/keepalive.h"
#include "rpc/wire/connection.h"

namespace ferry::device {
namespace {

constexpr std::size_t kMaxNameBytes = 200;
// Interval of checks if no limit ends sooner.
constexpr std::int64_t kWatchInterval = 300 * kNanosecondsPerMs;
// Delay between detecting that a client is gone and ending its session, which may be about to end by itself.
constexpr std::int64_t kGoneGrace = 200 * kNanosecondsPerMs;
// Delay between SIGTERM and SIGKILL.
constexpr std::int64_t kTermGrace = 500 * kNanosecondsPerMs;
constexpr std::chrono::milliseconds kAcceptRetry{100};

struct Session {
  std::uint64_t number = 0;
  pid_t process = 0;             // also its process group
  Descriptor socket;             // shared with the child; kept here to send the last frame
  SecretMemory::Pointer secure;  // likewise; null: plaintext
  ActivityPage page;
  std::string client, peer, folder;
  SessionWatch watch;
  std::unique_ptr<SessionUsage> usage;
  SessionOutput output;
  std::int64_t gone_since = 0;  // when the client was found to be gone
  std::int64_t kill_at = 0;     // when SIGKILL follows a SIGTERM
  Status over = {};             // the reason why the supervisor ended it
};

std::uint64_t milliseconds(std::int64_t ns) { return static_cast<std::uint64_t>(ns / kNanosecondsPerMs); }

class Supervisor {
 public:
  Supervisor(const ServerOptions& options, const DeviceFacts& facts, const WorkFolder& folder,
             const MemoryKiller& memory_killer)
      : options_(options),
        folder_(folder),
        modules_(folder.modules(), options.module_cache_bytes),
        session_options_{facts, &modules_},
        memory_killer_(memory_killer) {
    SandboxOptions& sandbox = session_options_.sandbox;
    sandbox = options.sandbox;
    session_options_.perf_map = options.perf_map;
    session_options_.other_devices = options.other_devices;
    // A server of one client loads drivers only if that client requests a device.
    if (options.inherited_socket < 0 && !options.stdio) device_list_.look(devices());
    sandbox.memory_bytes = facts.memory_limit_bytes;
    sandbox.threads = facts.threads;
    if (sandbox.change_user) folder.give_modules_to(sandbox.user, sandbox.group);
  }

  Status run() {
    FERRY_TRY(loop_.handle_signals({SIGINT, SIGTERM, SIGHUP, SIGCHLD},
                                   [this](int number) { number == SIGCHLD ? reap() : stop(); }));
    if (options_.stdio) {
      FERRY_ASSIGN(const int socket, start_stdio_relay(loop_));
      greet(socket);
    } else {
      FERRY_TRY(options_.inherited_socket >= 0 ? adopt() : listen());
    }
    loop_.run();
    return {};
  }

 private:
  Status listen() {
    FERRY_ASSIGN(Descriptor listener,
                 listen_at(options_.host, options_.port, options_.port_end, options_.keys != nullptr));
    std::printf("rpc_server listening on %s\n", own_name(listener.number()).c_str());
    std::fflush(stdout);
    listener_.emplace(loop_, listener.release());
    accept();
    return {};
  }

  Status adopt() {
    struct stat info{};
    if (fstat(options_.inherited_socket, &info) != 0 || !S_ISSOCK(info.st_mode)) {
      return {ErrorCode::invalid_argument,
              format("--fd: expected a connected socket, got %d", options_.inherited_socket)};
    }
    greet(options_.inherited_socket);
    return {};
  }

  void accept() {
    listener_->when_readable([this] {
      const int socket = accept4(listener_->number(), nullptr, nullptr, SOCK_CLOEXEC);
      // Most likely out of descriptors: sessions that end free some.
      if (socket < 0 && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) {
        return retry_.start(kAcceptRetry, [this] { accept(); });
      }
      if (socket >= 0) greet(socket);
      accept();
    });
  }

  void greet(int socket) {
    ++handshakes_;
    enable_keepalive(socket);
    const KeyRing* const keys = serves_one() ? nullptr : options_.keys;
    strangers_.add(begin_handshake(loop_, socket, keys, secrets_,
                                   {[this](HandshakenClient client) { admit(std::move(client)); },
                                    [this](int refused, std::vector<std::uint8_t> frame) {
                                      strangers_.add(send_final_frame(loop_, refused, std::move(frame)));
                                    },
                                    [this] {
                                      --handshakes_;
                                      end_if_alone();
                                    }}));
  }

  void bid_farewell(Descriptor& socket, std::vector<std::uint8_t> frame) {
    final_frames_.add(send_final_frame(loop_, socket.release(), std::move(frame)));
  }

  void admit(HandshakenClient client) {
    if (stopping_) return;
    if (client.header.tag == static_cast<std::uint16_t>(rpc::Tag::GetStatus)) return tell_status(client);
    for (const std::string& kind : client.open.devices) {
      if (kind != "cpu") device_list_.look(devices());
      if (const Status has = device_list_.check(kind, devices()); !has.is_ok()) return refuse(client, has);
    }
    if (sessions_.size() >= options_.max_sessions && waiting_.size() >= options_.max_waiting) {
      return refuse(client, {ErrorCode::busy, format("all places are taken and %zu clients wait already; the device is "
                                                     "held by %s",
                                                     waiting_.size(), sessions_.front().client.c_str())});
    }
    std::string peer = peer_name(client.socket.number());
    // Other clients see this name: in the log, in answers to status, and while they wait.
    client.open.client = printable(std::string_view(client.open.client).substr(0, kMaxNameBytes));
    waiting_.add({std::move(client), std::move(peer), now_ns()});
    fill_places();
  }

  std::vector<ComputeDevice>& devices() { return session_options_.facts.devices; }

  void fill_places() {
    if (stopping_) return;
    while (sessions_.size() < options_.max_sessions && !waiting_.is_empty()) start(waiting_.take());
    watch();
  }

  void start(WaitingClient waiting) {
    HandshakenClient& client = waiting.client;
    if (is_peer_gone(client.socket.number())) return;
    Result<ActivityPage> page = pages_.take();
    if (!page.is_ok()) return refuse(client, page.status());
    session_options_.limits = granted(client.open.limits, options_.limits);
    SandboxOptions& sandbox = session_options_.sandbox;
    // For all threads together and the one that opens encrypted records, plus a margin for time outside of kernels.
    sandbox.cpu_seconds = session_options_.limits.session_ms / 1000 * (sandbox.threads + 1);
    if (sandbox.cpu_seconds != 0) sandbox.cpu_seconds += 10;
    sandbox.folder = folder_.make_session_folder(last_number_ + 1, sandbox.user, sandbox.group);
    sandbox.filter = Filter::strict;
    for (const std::string& kind : client.open.devices) {
      if (kind != "cpu" && kind != rpc::kAnyDevice) sandbox.filter = Filter::gpu;
    }
    SessionOutput output(loop_, log_, last_number_ + 1);
    const Result<pid_t> child =
        start_session(client, session_options_, page.value(), secrets_, memory_killer_, output.writer());
    output.close_writer();
    if (!child.is_ok()) {
      cleaners_.start(sandbox.folder);
      return refuse(client, child.status());
    }
    ++last_number_;
    log_.line("session %llu: %s from %s", static_cast<unsigned long long>(last_number_), client.open.client.c_str(),
              waiting.peer.c_str());
    sessions_.push_back({last_number_, child.value(), std::move(client.socket), std::move(client.secure),
                         std::move(page.value()), std::move(client.open.client), std::move(waiting.peer),
                         sandbox.folder, SessionWatch(session_options_.limits, now_ns()),
                         std::make_unique<SessionUsage>(child.value(), sandbox), std::move(output)});
  }

  void refuse(HandshakenClient& client, const Status& failure) {
    bid_farewell(client.socket,
                 client.outgoing(rpc::failure_frame(client.header.tag, client.header.request, failure), true));
  }

  void tell_status(HandshakenClient& client) {
    const std::int64_t now = now_ns();
    rpc::StatusReply reply{session_options_.facts.server_version,
                           session_options_.facts.cpu_name,
                           milliseconds(now - begin_),
                           static_cast<std::uint32_t>(options_.max_sessions),
                           static_cast<std::uint32_t>(options_.max_waiting),
                           ended_,
                           failed_,
                           {},
                           {}};
    for (const Session& session : sessions_) {
      reply.sessions.push_back(
          {session.number, session.client, session.peer, milliseconds(now - session.watch.begin()), {}, 0});
      SeenActivity seen = look_at(session.page.activity(), session.watch.begin());
      if (!seen.in_kernel) continue;
      reply.sessions.back().function = printable(seen.function);
      reply.sessions.back().running_ms = milliseconds(std::max<std::int64_t>(now - seen.started_ns, 0));
    }
    for (const WaitingClient& waiting : waiting_.clients()) {
      reply.waiting.push_back({0, waiting.client.open.client, waiting.peer, milliseconds(now - waiting.since), {}, 0});
    }
    const rpc::FrameHeader header{rpc::FrameKind::response, client.header.tag, ErrorCode::ok, client.header.request};
    bid_farewell(client.socket, client.outgoing(rpc::whole_frame(header, rpc::encode(reply)), true));
  }

  // A session that is running a kernel does not read, so it cannot detect that its client is gone or that a limit is
  // exceeded.
  void watch() {
    waiting_.drop_gone();
    const std::int64_t now = now_ns();
    if (!sessions_.empty()) {
      const Session& holder = sessions_.front();
      waiting_.tell(holder.number, holder.client, milliseconds(now - holder.watch.begin()));
    }
    std::int64_t patience = kWatchInterval;
    for (Session& session : sessions_) {
      watch(session, now);
      patience = std::min(patience, session.watch.patience_ns());
    }
    if (sessions_.empty()) return watch_.cancel();
    watch_.start(std::chrono::milliseconds(std::max<std::int64_t>(patience, 0) / kNanosecondsPerMs + 1),
                 [this] { watch(); });
  }

  void watch(Session& session, std::int64_t now) {
    const SeenActivity seen = look_at(session.page.activity(), session.watch.begin());
    Status over = seen.is_damaged ? damaged_activity() : session.watch.check(seen, session.socket.number(), now);
    if (over.is_ok()) over = session.usage->check();
    if (!over.is_ok() && session.over.is_ok()) {
      session.over = over;
      session.kill_at = now + kTermGrace;
      kill(-session.process, SIGTERM);
    }
    if (!is_peer_gone(session.socket.number())) {
      session.gone_since = 0;
    } else if (session.gone_since == 0) {
      session.gone_since = now;
    } else if (now - session.gone_since > kGoneGrace) {
      if (session.over.is_ok()) session.over = {ErrorCode::unavailable, "its client is gone"};
      kill(-session.process, SIGKILL);
    }
    if (session.kill_at != 0 && now > session.kill_at) kill(-session.process, SIGKILL);
  }

  void reap() {
    for (auto session = sessions_.begin(); session != sessions_.end();) {
      const std::optional<int> status = reap_session(session->process);
      if (!status) {
        ++session;
        continue;
      }
      const Activity& activity = session->page.activity();
      const EndedSession ended{activity, look_at(activity, session->watch.begin()), *status, session->over};
      ++ended_;
      failed_ += ended_well(ended) ? 0 : 1;
      session->output.finish();
      log_.line("session %llu: %s", static_cast<unsigned long long>(session->number), describe_end(ended).c_str());
      std::vector<std::uint8_t> frame = last_frame(ended, session->secure.get());
      if (!frame.empty()) bid_farewell(session->socket, std::move(frame));
      cleaners_.start(session->folder);
      session = sessions_.erase(session);
    }
    cleaners_.reap();
    fill_places();
    end_if_alone();
  }

  void end_if_alone() {
    if (serves_one() && !stopping_ && sessions_.empty() && waiting_.is_empty() && handshakes_ == 0) {
      stop();
    }
  }

  void stop() {
    if (stopping_) return;
    stopping_ = true;
    for (const Session& session : sessions_) kill(-session.process, SIGKILL);
    for (const Session& session : sessions_) {
      while (waitpid(session.process, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    for (const Session& session : sessions_) cleaners_.start(session.folder);
    sessions_.clear();
    waiting_ = {};
    loop_.no_more_signals();
    if (listener_) listener_->close();
    retry_.cancel();
    watch_.cancel();
    // A server of one client still sends last frames in progress, because nobody requested its end.
    if (!serves_one()) loop_.stop();
  }

  bool serves_one() const { return options_.inherited_socket >= 0 || options_.stdio; }

  const ServerOptions& options_;
  const ServerLog log_{options_.quiet};
  const WorkFolder& folder_;
  ModuleStore modules_;
  SessionOptions session_options_;
  const ConnectionPlaces places_ = find_connection_places(options_.max_sessions, options_.max_waiting);
  const MemoryKiller& memory_killer_;
  SecretMemory secrets_{places_.strangers + options_.max_sessions + options_.max_waiting};
  ActivityPages pages_{options_.max_sessions};
  // Handshakes that are cut off while the loop is destroyed decrement the counter, so these members are declared before
  // the loop.
  std::size_t handshakes_ = 0;
  PendingConnections strangers_{places_.strangers}, final_frames_{places_.final_frames};
  bool stopping_ = false;
  DeviceList device_list_{options_.other_devices};
  EventLoop loop_;
  Timer retry_{loop_};
  Timer watch_{loop_};
  std::optional<WatchedDescriptor> listener_;
  std::list<Session> sessions_;  // the oldest first
  AdmissionQueue waiting_;
  Cleaners cleaners_;
  std::uint64_t last_number_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t failed_ = 0;
  const std::int64_t begin_ = now_ns();
};

}  // namespace

Status serve(const ServerOptions& options, const DeviceFacts& facts, const WorkFolder& folder) {
  signal(SIGPIPE, SIG_IGN);
  const MemoryKiller memory_killer;
#if !defined(__SANITIZE_ADDRESS__)  // LeakSanitizer needs a dumpable process
  // Otherwise sessions of the same user could read and change this process unless a security module forbids it.
  prctl(PR_SET_DUMPABLE, 0);
#endif
  Supervisor supervisor(options, facts, folder, memory_killer);
  return supervisor.run();
}

}  // namespace ferry::device
