// A session's process, seen from the supervisor: started by fork, watched, and spoken for when it died.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device-runtime/session/session.h"
#include "device-runtime/supervisor/activity_pages.h"
#include "device-runtime/supervisor/handshake.h"
#include "device-runtime/supervisor/seen_activity.h"

namespace ferry::device {

// Forks; the child serves the client on its socket and exits. Of what was the supervisor's it keeps that socket and the
// page: every other descriptor is closed, the secrets and pages of others are gone before the client is heard. Returns
// its process id. `errors` becomes its standard error; -1: it has none.
Result<pid_t> start_session(const GreetedClient& client, const SessionOptions& options, const ActivityPage& page,
                            SecretMemory& secrets, int errors);

// The wait status of a child that has ended; with it ends whatever is left of its process group.
std::optional<int> reap_session(pid_t process);

// A session whose process is no more.
struct EndedSession {
  const Activity& activity;
  SeenActivity seen;  // in it
  int wait_status = 0;
  Status over;  // what it was ended for, if it was
};

// What the client must be told; empty when there is nothing to say (it ended well, was idle) or it would land inside a
// half-sent frame. Encrypted where there are keys.
std::vector<std::uint8_t> last_frame(const EndedSession& session, SecureEnds* secure);

// By itself, with everything answered.
bool ended_well(const EndedSession& session);

// For the log: "ended", "crashed in add with SIGSEGV after 3.1 ms".
std::string describe_end(const EndedSession& session);

}  // namespace ferry::device
