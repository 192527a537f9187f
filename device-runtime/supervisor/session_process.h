// A session's process as the supervisor handles it: it is started by fork, monitored, and if it dies the supervisor
// answers its client.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device-runtime/session/session.h"
#include "device-runtime/supervisor/activity_pages.h"
#include "device-runtime/supervisor/memory_killer.h"
#include "device-runtime/supervisor/seen_activity.h"
#include "rpc/server/handshake.h"

namespace ferry::device {

// Descriptors that the child keeps; -1: there is none.
struct SessionEnds {
  int errors = -1;  // becomes its standard error
  int files = -1;   // the socket of its FileBroker
  CacheLimits largest_files = {};
  int memory = -1;  // the object that it shares with its runners
};

// Forks; the child serves the client on its socket and exits. The child keeps only this socket and its page of the
// supervisor's resources: all other descriptors are closed, and the secrets and pages of other sessions are unmapped
// before any request is read. Returns the child's process id.
Result<pid_t> start_session(const server::HandshakenClient& client, const SessionOptions& options,
                            const ActivityPage& page, server::SecretMemory& secrets, const MemoryKiller& killer,
                            const SessionEnds& ends);

// Signals the session's process group or, if the process has not made it yet, the process.
void signal_session(pid_t process, int signal);

// Returns the wait status if the child has ended, and then kills what is left of its process group.
std::optional<int> reap_session(pid_t process);

// A session whose process has ended.
struct EndedSession {
  const Activity& activity;
  SeenActivity seen;  // copy of the activity
  int wait_status = 0;
  Status over;                           // the reason why the supervisor ended it, if it did
  std::optional<rpc::LimitEvent> limit;  // the limit that is the reason, if one is
  bool client_left = false;              // the client has closed the connection, and nothing else is `over`
};

// Returns the last frame for the client. Empty if there is nothing to report (it ended normally or was idle) or if the
// frame would land inside a partially sent one. Encrypted if there are keys.
std::vector<std::uint8_t> last_frame(const EndedSession& session, server::SecureEnds* secure);

// Returns whether the process exited by itself after answering all requests.
bool ended_well(const EndedSession& session);

// Returns a text for the log: "ended", "crashed in add with SIGSEGV after 3.1 ms".
std::string describe_end(const EndedSession& session);

// Returns the same and what the kernel has printed last, both untrusted text, if the session has failed. Empty if its
// client has ended it, in whatever way.
std::string describe_failure(const EndedSession& session);

}  // namespace ferry::device
