#include "farm/client/tracker_connection.h"

#include <poll.h>

#include <algorithm>

#include "farm/client/waiting_transport.h"
#include "rpc/secure/client_handshake.h"
#include "rpc/transport/tcp.h"

namespace ferry::farm {

namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kHelloRequest = 1;

// For the longest answer on the slowest link of which a farm can be used at all.
constexpr std::chrono::minutes kLongestFrame{5};

Status no_tracker() { return {ErrorCode::unavailable, "something listens there, but it is no tracker of a farm"}; }

Status explain(const Status& status, const FarmAccess& farm) {
  switch (status.code()) {
    case ErrorCode::unauthenticated:
      return {status.code(), "the key in " + farm.key_file + " (id " + secure::to_text(farm.key.id()) +
                                 ") is not accepted: " + status.message()};
    case ErrorCode::deadline_exceeded:
    case ErrorCode::protocol_error: return no_tracker();
    default: return status;
  }
}

}  // namespace

TrackerConnection::TrackerConnection(std::string tracker, std::unique_ptr<Transport> transport)
    : tracker_(std::move(tracker)), connection_(std::move(transport)) {}

Result<std::unique_ptr<TrackerConnection>> TrackerConnection::open(const FarmAccess& farm, const TcpAddress& tracker,
                                                                   milliseconds timeout) {
  const std::string name = "tracker " + ferry::to_text(tracker);
  const auto named = [&](const Status& status) { return Status(status.code(), name + ": " + status.message()); };
  auto tcp = connect_tcp(tracker.host, tracker.port, timeout);
  if (!tcp.is_ok()) return named(tcp.status());
  auto transport = std::make_unique<WaitingTransport>(std::move(tcp.value()));
  WaitingTransport& waiting = *transport;  // the connection will own it
  auto encrypted = secure::encrypt_connection(std::move(transport), farm.key, timeout);
  if (!encrypted.is_ok()) return named(explain(encrypted.status(), farm));
  std::unique_ptr<TrackerConnection> connection(new TrackerConnection(name, std::move(encrypted.value())));
  if (const Status status = connection->say_hello(farm.client, timeout); !status.is_ok())
    return named(explain(status, farm));
  waiting.before_receiving([raw = connection.get()] { return raw->wait_for_rest(); });
  return connection;
}

Status TrackerConnection::say_hello(const std::string& client, milliseconds timeout) {
  wire::Hello hello;
  hello.client = client.substr(0, wire::kMaxText);
  const auto tag = static_cast<std::uint16_t>(wire::Tag::Hello);
  FERRY_TRY(send_frame({rpc::FrameKind::request, tag, ErrorCode::ok, kHelloRequest}, wire::encode(hello)));
  connection_.transport().set_receive_timeout(timeout);
  FERRY_ASSIGN(const rpc::Frame frame, receive_frame());
  FERRY_TRY(rpc::failure_of(frame));
  if (frame.header.kind != rpc::FrameKind::response || frame.header.request != kHelloRequest) return no_tracker();
  FERRY_ASSIGN(const wire::Welcome welcome, wire::decode<wire::Welcome>(frame.body));
  if (welcome.version < wire::kVersionMin || welcome.version > wire::kVersionMax) {
    return {ErrorCode::version_mismatch, "expected version " + std::to_string(wire::kVersionMin) + " to " +
                                             std::to_string(wire::kVersionMax) + " of the farm's protocol, got " +
                                             std::to_string(welcome.version)};
  }
  holder_ = welcome.holder;
  connection_.transport().set_receive_timeout(milliseconds(0));
  return {};
}

Status TrackerConnection::about_tracker(const Status& status) const {
  const std::string reason = status.message() == kPeerClosed ? "closed the connection" : status.message();
  return {status.code(), tracker_ + (status.message() == kPeerClosed ? " " : ": ") + reason};
}

Status TrackerConnection::send_frame(const rpc::FrameHeader& header, ByteSpan body) {
  const std::lock_guard lock(sending_);
  if (has_closed_send_) return {ErrorCode::unavailable, tracker_ + ": the connection is being closed"};
  const Status sent = connection_.send_frame(header, body);
  return sent.is_ok() ? sent : about_tracker(sent);
}

// Frames of the farm's protocol have no payload.
Result<rpc::Frame> TrackerConnection::receive_frame() {
  FERRY_ASSIGN(rpc::Frame frame, connection_.receive_frame());
  if (frame.header.payload_bytes != 0) {
    return Status(ErrorCode::protocol_error,
                  "expected no payload, got " + std::to_string(frame.header.payload_bytes) + " bytes");
  }
  return frame;
}

Status TrackerConnection::send_keepalive_if_due() {
  const Clock::time_point now = Clock::now();
  if (now < next_keepalive_) return {};
  next_keepalive_ = now + wire::kHeartbeatPeriod;
  const std::lock_guard lock(sending_);
  if (has_closed_send_) return {};
  return connection_.send_frame({rpc::FrameKind::event, static_cast<std::uint16_t>(wire::Tag::Keepalive)}, {});
}

Result<bool> TrackerConnection::wait_for_bytes(Clock::time_point until) {
  while (true) {
    FERRY_TRY(send_keepalive_if_due());
    const Clock::time_point next = std::min({until, next_keepalive_, heard_ + wire::kSilence});
    const auto left = std::chrono::ceil<milliseconds>(next - Clock::now()).count();
    pollfd entry{connection_.transport().native_handle(), POLLIN, 0};
    const bool has_bytes = poll(&entry, 1, static_cast<int>(std::max<long>(left, 0))) > 0;
    const Clock::time_point now = Clock::now();
    if (has_bytes) {
      heard_ = now;
      return true;
    }
    if (now - heard_ >= wire::kSilence)
      return Status(ErrorCode::unavailable, "it has been silent for " + std::to_string(wire::kSilence.count()) + " s");
    if (now >= until) return false;
  }
}

Status TrackerConnection::wait_for_rest() {
  FERRY_ASSIGN(const bool has_bytes, wait_for_bytes(frame_until_));
  return has_bytes ? Status() : receive_timed_out(kLongestFrame);
}

Result<std::optional<rpc::Frame>> TrackerConnection::receive(Clock::time_point until) {
  while (true) {
    if (const Status sent = send_keepalive_if_due(); !sent.is_ok()) return about_tracker(sent);
    if (!connection_.has_buffered_input()) {
      const Result<bool> has_bytes = wait_for_bytes(until);
      if (!has_bytes.is_ok()) return about_tracker(has_bytes.status());
      if (!has_bytes.value()) return std::optional<rpc::Frame>();
    }
    frame_until_ = Clock::now() + kLongestFrame;
    const Result<rpc::Frame> frame = receive_frame();
    if (!frame.is_ok()) return about_tracker(frame.status());
    const rpc::FrameHeader& header = frame.value().header;
    if (header.kind == rpc::FrameKind::event) {
      if (header.tag == static_cast<std::uint16_t>(wire::Tag::Refused)) {
        const auto refused = wire::decode<wire::Refused>(frame.value().body);
        if (!refused.is_ok()) return about_tracker(refused.status());
        return about_tracker({ErrorCode::unavailable, refused.value().reason});
      }
      const bool is_keepalive = header.tag == static_cast<std::uint16_t>(wire::Tag::Keepalive);
      if (is_keepalive || !wire::has_direction(header.tag, wire::kToClient)) {
        if (Clock::now() >= until) return std::optional<rpc::Frame>();
        continue;
      }
    }
    return std::optional<rpc::Frame>(frame.value());
  }
}

void TrackerConnection::close_send() {
  const std::lock_guard lock(sending_);
  if (!std::exchange(has_closed_send_, true)) connection_.transport().close_send();
}

void TrackerConnection::close() { connection_.transport().close(); }

}  // namespace ferry::farm
