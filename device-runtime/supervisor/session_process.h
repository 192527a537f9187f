// A session's process, seen from the supervisor: started by fork, watched, and spoken for when it died.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device-runtime/handlers/activity.h"
#include "device-runtime/session/session.h"
#include "device-runtime/supervisor/handshake.h"

namespace ferry::device {

// A page that parent and child share; unmapped at the end.
class ActivityPage {
 public:
  // resource_exhausted when the system has no memory.
  static Result<ActivityPage> make();
  ActivityPage(ActivityPage&& other) noexcept;
  ActivityPage& operator=(ActivityPage&&) = delete;
  ~ActivityPage();
  Activity& activity() const { return *activity_; }

 private:
  explicit ActivityPage(Activity* activity) : activity_(activity) {}
  Activity* activity_;
};

// Forks; the child serves the client on its socket, with every other descriptor closed, and exits. Returns its process
// id.
Result<pid_t> start_session(const GreetedClient& client, const SessionOptions& options, Activity& activity);

// The wait status of a child that has ended; with it ends whatever is left of its process group.
std::optional<int> reap_session(pid_t process);

// What the client must be told after the child ended with this wait status, `over` being what it was ended for, if it
// was; empty when there is nothing to say (it ended well, was idle) or it would land inside a half-sent frame.
// Encrypted, where the session's frames are.
std::vector<std::uint8_t> last_frame(Activity& activity, int wait_status, const Status& over);

// For the log: "ended", "crashed in add with SIGSEGV after 3.1 ms".
std::string describe_end(const Activity& activity, int wait_status);

}  // namespace ferry::device
