// The sessions that are running: starts a process for each, ends those that exceed a limit or whose client is gone, and
// answers the client of one that died.
#pragma once

#include <sys/types.h>

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "device-runtime/runner/zygote.h"
#include "device-runtime/supervisor/activity_pages.h"
#include "device-runtime/supervisor/cleaners.h"
#include "device-runtime/supervisor/file_service.h"
#include "device-runtime/supervisor/server_log.h"
#include "device-runtime/supervisor/session_output.h"
#include "device-runtime/supervisor/session_process.h"
#include "device-runtime/supervisor/session_usage.h"
#include "device-runtime/supervisor/session_watch.h"
#include "device-runtime/supervisor/time_claims.h"
#include "device-runtime/supervisor/work_folder.h"
#include "rpc/server/admission_queue.h"
#include "rpc/server/final_frame.h"

namespace ferry::device {

struct Session {
  std::uint64_t number = 0;
  pid_t process = 0;                     // also its process group
  Descriptor socket;                     // shared with the child; kept here to send the last frame
  server::SecretMemory::Pointer secure;  // null: plaintext
  ActivityPage page;
  std::string client, peer, folder;
  SessionWatch watch;
  std::unique_ptr<SessionUsage> usage;
  TimeClaims claims;
  SessionOutput output;
  FileService files;
  bool has_gpu = false;                       // so that its filter allows more
  bool is_headless = false;                   // SessionUsage::is_headless()
  std::int64_t gone_since = 0;                // when the client was found to be gone
  std::int64_t kill_at = 0;                   // when SIGKILL follows a SIGTERM
  Status over = {};                           // the reason why the supervisor ended it
  std::optional<rpc::LimitEvent> limit = {};  // the limit that is the reason, if one is
  bool is_left = false;                       // whether the reason is that its client is gone
};

// The report of a session that has ended.
struct SessionReport {
  std::string client;
  std::uint64_t length_ms = 0;
  std::string failure;  // describe_failure()
};

class SessionTable {
 public:
  // Has room for `most` sessions. The other objects must outlive it.
  SessionTable(std::size_t most, server::EventLoop& loop, server::SecretMemory& secrets,
               server::FinalFrames& final_frames, const WorkFolder& folder, const Caches& caches,
               const MemoryKiller& memory_killer, const ServerLog& log)
      : pages_(most),
        loop_(loop),
        secrets_(secrets),
        final_frames_(final_frames),
        folder_(folder),
        caches_(caches),
        memory_killer_(memory_killer),
        log_(log) {}

  const std::list<Session>& sessions() const { return sessions_; }  // the oldest first
  std::uint64_t ended() const { return ended_; }
  std::uint64_t failed() const { return failed_; }

  // Returns for how long the next session should wait before it is started: Cleaners::wait_ns().
  std::int64_t wait_ns() const { return cleaners_.wait_ns(); }
  // Starts a session for the client, with the time limits that it asks for up to those of `options`; refuses the client
  // if that fails.
  void start(server::WaitingClient waiting, SessionOptions options);
  // Checks the limits of all sessions and whether their clients are still there. A session that is running a kernel
  // does not read, so it cannot detect either by itself. Returns the time until the next check, in nanoseconds.
  std::int64_t watch();
  // Removes the sessions whose processes have ended, and returns them.
  std::vector<SessionReport> reap();
  // Kills all sessions, whose clients are told why; reap() removes them.
  void end_all(const Status& why);
  // Kills all sessions and waits for their ends.
  void stop();

 private:
  void watch(Session& session, std::int64_t now);

  ActivityPages pages_;
  server::EventLoop& loop_;
  server::SecretMemory& secrets_;
  server::FinalFrames& final_frames_;
  const WorkFolder& folder_;
  const Caches& caches_;
  const MemoryKiller& memory_killer_;
  const bool isolates_ = can_isolate();
  const ServerLog& log_;
  Cleaners cleaners_;
  std::list<Session> sessions_;
  std::uint64_t last_number_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t failed_ = 0;
};

}  // namespace ferry::device
