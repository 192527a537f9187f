#include "host/tune/runner/kept_session.h"

#include "host/client/state.h"

namespace ferry::tune {

Device KeptSession::open(const std::vector<std::string>& devices, double call_seconds) {
  // Code that hangs is noticed this much later at most.
  constexpr double kMostLonger = 4;
  const auto serves = [&](const Session& session) {
    return session.device.state()->client->is_open() && session.devices == devices &&
           session.call_seconds >= call_seconds && session.call_seconds <= kMostLonger * call_seconds;
  };
  if (session_ && !serves(*session_)) close();
  if (!session_) {
    ConnectOptions connection;
    connection.devices = devices;
    connection.deadlines.call = call_seconds;
    session_ = Session{device_.open(connection), devices, call_seconds};
    ++opened_;
  }
  return session_->device;
}

}  // namespace ferry::tune
