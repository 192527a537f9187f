#include "device-runtime/supervisor/supervisor.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/printable.h"
#include "device-runtime/device/shared_memory.h"
#include "device-runtime/measure/clock.h"
#include "device-runtime/supervisor/device_list.h"
#include "device-runtime/supervisor/memory_killer.h"
#include "device-runtime/supervisor/server_log.h"
#include "device-runtime/supervisor/session_table.h"
#include "device-runtime/supervisor/status_reply.h"
#include "device-runtime/supervisor/stdio_relay.h"
#include "farm/board/farm_board.h"
#include "rpc/server/acceptor.h"
#include "rpc/server/admission_queue.h"
#include "rpc/server/event_loop.h"
#include "rpc/server/final_frame.h"
#include "rpc/server/listen.h"
#include "rpc/server/socket_address.h"
#include "rpc/wire/codec.h"
#include "rpc/wire/connection.h"

namespace ferry::device {
namespace {

using server::HandshakenClient;

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kDefaultBlobBytes = std::uint64_t{1} << 30;

bool serves_one(const ServerOptions& options) { return options.inherited_socket >= 0 || options.stdio; }

std::uint64_t blob_cache_bytes(const ServerOptions& options, const DeviceFacts& facts, const WorkFolder& folder) {
  if (options.blob_cache_bytes != 0) return options.blob_cache_bytes;
  // A server of one client keeps nothing for others, so this is the largest blob alone.
  const std::uint64_t most = kDefaultBlobBytes * (serves_one(options) ? 16 : 1);
  // Blobs in a folder that is in memory take it from the session.
  return is_memory(folder.path()) ? std::min(most, facts.memory_limit_bytes / 4) : most;
}

// Admits clients to the sessions.
class Supervisor final : public FarmBoard::Sessions {
 public:
  // `ceiling` is null unless the server belongs to a farm.
  Supervisor(const ServerOptions& options, const DeviceFacts& facts, const WorkFolder& folder,
             const MemoryKiller& memory_killer, CeilingFile* ceiling)
      : options_(options),
        folder_(folder),
        memory_killer_(memory_killer),
        ceiling_(ceiling),
        caches_{CacheFolder(folder.modules(), "module", ".ferry", options.module_cache_bytes),
                CacheFolder(folder.blobs(), "blob", ".blob", blob_cache_bytes(options, facts, folder)),
                !options.sandbox.change_user, folder.path()},
        session_options_{facts, options.limits} {
    SandboxOptions& sandbox = session_options_.sandbox;
    sandbox = options.sandbox;
    session_options_.perf_map = sandbox.inspectable = options.perf_map;
    session_options_.other_devices = options.other_devices;
    // A server of one client loads drivers only if that client requests a device.
    if (!serves_one(options_)) device_list_.detect(devices());
    sandbox.memory_bytes = facts.memory_limit_bytes;
    sandbox.nameless_bytes = options.other_devices.nameless_bytes;
    sandbox.sees_mapped_files = options.other_devices.sees_mapped_files;
    sandbox.restrict_gpu_files = options.other_devices.restrict_files;
    sandbox.threads = facts.threads;
    if (sandbox.change_user) folder.let_others_pass();
  }

  Status run() {
    FERRY_TRY(loop_.handle_signals({SIGINT, SIGTERM, SIGHUP, SIGCHLD},
                                   [this](int number) { number == SIGCHLD ? reap() : stop(); }));
    if (options_.stdio) {
      FERRY_ASSIGN(const int socket, start_stdio_relay(loop_));
      acceptor_.adopt(socket);
    } else {
      FERRY_TRY(options_.inherited_socket >= 0 ? adopt_inherited() : listen());
    }
    loop_.run();
    return {};
  }

 private:
  Status listen() {
    FERRY_ASSIGN(Descriptor listener,
                 server::listen_at(options_.host, options_.port, options_.port_end, keys() != nullptr));
    const std::string address = server::own_name(listener.number());
    std::printf("rpc_server listening on %s\n", address.c_str());
    std::fflush(stdout);
    if (farm_) farm_->start(address);
    acceptor_.listen(listener.release());
    return {};
  }

  Status adopt_inherited() {
    struct stat info{};
    if (fstat(options_.inherited_socket, &info) != 0 || !S_ISSOCK(info.st_mode)) {
      return {ErrorCode::invalid_argument,
              format("--fd: expected a connected socket, got %d", options_.inherited_socket)};
    }
    // Behind the socket may be an object for tensors, of which the client has mapped the part that a session leaves.
    // Nothing that this process has opened is such an object.
    const int object = options_.inherited_socket + 1;
    if (is_shared_object(object, shared_object_bytes(session_options_.facts.memory_limit_bytes)))
      session_options_.clients_object = object;
    acceptor_.adopt(options_.inherited_socket);
    return {};
  }

  void admit(HandshakenClient client) {
    if (stopping_) return;
    if (farm_) {
      // The lease may have ended since the handshake.
      if (const Status refused = farm_->check(client.key_id); !refused.is_ok())
        return final_frames_.refuse(client, refused);
    }
    if (client.header.tag == static_cast<std::uint16_t>(rpc::Tag::GetStatus)) return send_status(client);
    rpc::Open open = rpc::decode<rpc::Open>(client.body).value();  // accepted by kSessionRequests
    for (const std::string& name : open.devices) {
      const Status has = device_list_.check(name, devices());
      if (!has.is_ok()) return final_frames_.refuse(client, has);
    }
    if (is_full() && waiting_.size() >= options_.max_waiting) {
      return final_frames_.refuse(
          client,
          {ErrorCode::busy, format("all places are taken and %zu clients wait already; the device is held by %s",
                                   waiting_.size(), table_.sessions().front().client.c_str())});
    }
    std::string peer = server::peer_name(client.socket.number());
    // Other clients see this name: in the log, in answers to status, and while they wait.
    open.client = printable(std::string_view(open.client).substr(0, kMaxNameBytes));
    waiting_.add({std::move(client), std::move(open), std::move(peer), now_ns()});
    fill_places();
  }

  std::vector<ComputeDevice>& devices() { return session_options_.facts.devices; }

  // Null: everybody may connect.
  const server::KeySource* keys() const {
    if (farm_) return farm_.get();
    return serves_one(options_) ? nullptr : options_.keys;
  }

  bool is_full() const { return table_.sessions().size() >= options_.max_sessions; }

  void fill_places() {
    if (stopping_) return;
    std::int64_t wait_ns = kNever;
    while (!is_full() && !waiting_.is_empty()) {
      if (const std::int64_t cleaning_ns = table_.wait_ns(); cleaning_ns > 0) {
        wait_ns = cleaning_ns;
        break;
      }
      start(waiting_.take());
    }
    waiting_.drop_gone();
    if (!table_.sessions().empty()) wait_ns = std::min(wait_ns, watch());
    if (wait_ns == kNever) return watch_.cancel();
    watch_.start(std::chrono::milliseconds(wait_ns / kNanosecondsPerMs + 1), [this] { fill_places(); });
  }

  void start(server::WaitingClient waiting) {
    if (farm_) {
      if (const Status refused = farm_->admit(waiting.client.key_id); !refused.is_ok())
        return final_frames_.refuse(waiting.client, refused);
      // No other session is running.
      caches_.set_holder(farm_->holder());
    }
    table_.start(std::move(waiting), session_options_);
    if (farm_ && table_.sessions().empty()) farm_->session_ended();
  }

  void send_status(HandshakenClient& client) {
    rpc::StatusReply reply;
    reply.server_version = session_options_.facts.server_version;
    reply.device = session_options_.facts.cpu_name;
    reply.uptime_ms = to_milliseconds(now_ns() - begin_);
    reply.max_sessions = static_cast<std::uint32_t>(options_.max_sessions);
    reply.max_waiting = static_cast<std::uint32_t>(options_.max_waiting);
    add_clients(reply, table_, waiting_);
    const rpc::FrameHeader header{rpc::FrameKind::response, client.header.tag, ErrorCode::ok, client.header.request};
    final_frames_.send(client.socket, client.outgoing(rpc::whole_frame(header, rpc::encode(reply)), true));
  }

  std::int64_t watch() {
    const Session& holder = table_.sessions().front();
    waiting_.notify(holder.number, holder.client, to_milliseconds(now_ns() - holder.watch.begin()));
    return table_.watch();
  }

  void end_session(const Status& why) override { table_.end_all(why); }

  void adopt(int socket) override { acceptor_.adopt(socket); }

  void log(const std::string& line) override { log_.line("%s", line.c_str()); }

  void reap() {
    for (SessionReport& report : table_.reap()) {
      if (farm_) farm_->report_session(std::move(report.client), report.length_ms, report.failure);
    }
    if (farm_ && table_.sessions().empty()) farm_->session_ended();
    fill_places();
    end_if_alone();
  }

  void end_if_alone() {
    const bool is_alone = table_.sessions().empty() && waiting_.is_empty() && !acceptor_.has_handshakes();
    if (serves_one(options_) && !stopping_ && is_alone) stop();
  }

  void stop() {
    if (stopping_) return;
    stopping_ = true;
    if (farm_) farm_->stop();
    table_.stop();
    waiting_ = {};
    loop_.no_more_signals();
    acceptor_.stop_listening();
    watch_.cancel();
    // A server of one client still sends last frames in progress, because nobody requested its end.
    if (!serves_one(options_)) loop_.stop();
  }

  const ServerOptions& options_;
  const ServerLog log_{options_.quiet};
  const WorkFolder& folder_;
  const MemoryKiller& memory_killer_;
  CeilingFile* ceiling_;
  Caches caches_;
  SessionOptions session_options_;
  const server::ConnectionPlaces places_ = server::find_connection_places(options_.max_sessions, options_.max_waiting);
  // And the connection to a tracker, an old one and a new one.
  server::SecretMemory secrets_{places_.unadmitted + options_.max_sessions + options_.max_waiting + 2};
  DeviceList device_list_{options_.other_devices};
  bool stopping_ = false;
  server::EventLoop loop_;
  server::Timer watch_{loop_};
  server::FinalFrames final_frames_{loop_, places_.final_frames};
  SessionTable table_{options_.max_sessions, loop_, secrets_, final_frames_, folder_, caches_, memory_killer_, log_};
  server::AdmissionQueue waiting_;
  const std::unique_ptr<FarmBoard> farm_ =
      ceiling_ == nullptr
          ? nullptr
          : std::make_unique<FarmBoard>(loop_, secrets_, options_.farm, session_options_.facts, *ceiling_, *this);
  server::Acceptor acceptor_{
      loop_,
      server::kSessionRequests,
      keys(),
      secrets_,
      places_.unadmitted,
      {[this](HandshakenClient client) { admit(std::move(client)); }, [this] { end_if_alone(); }}};
  const std::int64_t begin_ = now_ns();
};

}  // namespace

Status serve(const ServerOptions& options, const DeviceFacts& facts, const WorkFolder& folder) {
  signal(SIGPIPE, SIG_IGN);
  std::optional<CeilingFile> ceiling;
  for (const TcpAddress& tracker : options.farm.trackers)
    FERRY_TRY(server::parse_socket_address(tracker.host, "--farm").status());
  if (!options.farm.trackers.empty()) {
    FERRY_ASSIGN(ceiling, CeilingFile::open(folder.path()));
  }
  const MemoryKiller memory_killer;
#if !defined(__SANITIZE_ADDRESS__)  // LeakSanitizer needs a dumpable process
  // Otherwise sessions of the same user could read and change this process unless a security module forbids it.
  prctl(PR_SET_DUMPABLE, 0);
#endif
  Supervisor supervisor(options, facts, folder, memory_killer, ceiling ? &*ceiling : nullptr);
  return supervisor.run();
}

}  // namespace ferry::device
