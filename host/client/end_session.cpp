#include "host/client/end_session.h"

#include "host/client/state.h"

namespace ferry::session {

void Client::close() {
  connection_.transport().close();
  if (broken_.is_ok()) broken_ = Status(ErrorCode::unavailable, "the session with " + peer_ + " was closed");
  outstanding_.clear();
  handlers_ = {};  // these keep the lease
}

void interrupt(const Device& device) { device.state()->client->interrupt(); }

void close(const Device& device) {
  detail::DeviceState& state = *device.state();
  state.client->close();
  state.server.reset();
  state.lease.reset();
}

}  // namespace ferry::session
