#include "device-runtime/session/session.h"

#include <chrono>
#include <new>

#include "device-runtime/device/cpu_device.h"
#include "device-runtime/handlers/dispatch.h"

namespace ferry::device {
namespace {

// What the peer still sends must be taken in before the socket closes: otherwise the system throws away an answer that
// is under way to it. Somebody who never stops sending is not waited for.
void close_gently(Transport& transport) {
  transport.close_send();
  transport.set_receive_timeout(std::chrono::milliseconds(200));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  std::uint8_t byte[1];
  while (std::chrono::steady_clock::now() < end && transport.receive(byte).is_ok()) {
  }
}

// A request that cannot be read has no id to answer to: the refusal goes out with id 0 and is the last frame.
void refuse_stream(rpc::Connection& connection, Activity& activity, const Status& failure) {
  activity.sending.store(true);
  if (connection.send_failure(rpc::FrameHeader{}, failure).is_ok()) close_gently(connection.transport());
}

Result<rpc::Frame> next_request(rpc::Connection& connection) {
  try {
    FERRY_ASSIGN(const rpc::Frame frame, connection.receive_frame());
    if (frame.header.kind == rpc::FrameKind::request) return frame;
    return Status(ErrorCode::protocol_error, "expected a request, got a response or an event");
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::resource_exhausted, "the server has no memory left to read a request");
  }
}

}  // namespace

void run_session(std::unique_ptr<Transport> transport, const SessionOptions& options, Activity& activity,
                 const rpc::Frame& hello) {
  rpc::Connection connection(std::move(transport));
  SessionState state(options.facts, *options.modules);
  state.devices.push_back(std::make_unique<CpuDevice>(state.facts.devices.front(), state.facts.threads, state.budget));
  bool goes_on = dispatch(state, connection, activity, hello);
  while (goes_on) {
    const Result<rpc::Frame> request = next_request(connection);
    if (!request.is_ok()) {
      if (request.status().code() != ErrorCode::unavailable) refuse_stream(connection, activity, request.status());
      return;
    }
    goes_on = dispatch(state, connection, activity, request.value());
  }
}

}  // namespace ferry::device
