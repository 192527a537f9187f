// One connection of a client to one tracker, on which the client has said hello.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "farm/client/farm_access.h"
#include "farm/protocol/codec.h"
#include "rpc/wire/connection.h"

namespace ferry::farm {

inline constexpr std::chrono::seconds kConnectTimeout{5};

// One thread receives; any thread may send and close.
class TrackerConnection {
 public:
  using Clock = std::chrono::steady_clock;

  // Connects, proves the key and says hello, each within the timeout. Fails with unauthenticated if the tracker does
  // not know the key, and with unavailable if there is no tracker. Messages name the tracker.
  static Result<std::unique_ptr<TrackerConnection>> open(const FarmAccess& farm, const TcpAddress& tracker,
                                                         std::chrono::milliseconds timeout);
  TrackerConnection(const TrackerConnection&) = delete;
  TrackerConnection& operator=(const TrackerConnection&) = delete;
  ~TrackerConnection() { close(); }

  // In whose name the client's leases are.
  const std::string& holder() const { return holder_; }

  template <class Event>
  Status send(const Event& event) {
    return send_frame({rpc::FrameKind::event, static_cast<std::uint16_t>(wire::MessageOf<Event>::kTag)},
                      wire::encode(event));
  }
  Status send_frame(const rpc::FrameHeader& header, ByteSpan body);

  // Returns the next frame that is not a keepalive, or nothing if none arrives until then. Meanwhile it sends
  // keepalives. Fails if the tracker is silent, breaks the protocol, closes the connection or refuses to go on.
  Result<std::optional<rpc::Frame>> receive(Clock::time_point until);

  // Says that nothing more will be sent. Once the tracker has taken everything, receive() fails.
  void close_send();
  void close();

 private:
  TrackerConnection(std::string tracker, std::unique_ptr<Transport> transport);
  Status say_hello(const std::string& client, std::chrono::milliseconds timeout);
  // Returns a message that names the tracker.
  Status about_tracker(const Status& status) const;
  // Returns whether there is something to receive; false if there is nothing by then. Meanwhile it sends keepalives.
  // Fails if the tracker is silent.
  Result<bool> wait_for_bytes(Clock::time_point until);
  // The same for the rest of a frame, which must come in time.
  Status wait_for_rest();
  Status send_keepalive_if_due();
  Result<rpc::Frame> receive_frame();

  std::string tracker_;  // for messages
  rpc::Connection connection_;
  std::string holder_;
  Clock::time_point heard_ = Clock::now();  // when bytes last came
  Clock::time_point frame_until_{};
  Clock::time_point next_keepalive_ = Clock::now() + wire::kHeartbeatPeriod;
  std::mutex sending_;
  bool has_closed_send_ = false;
};

}  // namespace ferry::farm
