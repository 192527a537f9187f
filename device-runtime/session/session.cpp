#include "device-runtime/session/session.h"

#include <poll.h>

#include <chrono>
#include <new>
#include <utility>

#include "device-runtime/device/cpu_device.h"
#include "device-runtime/handlers/dispatch.h"
#include "device-runtime/handlers/modules.h"
#include "rpc/wire/codec.h"

namespace ferry::device {
namespace {

// The remaining input of the peer must be read before the socket is closed: otherwise the system discards an answer in
// flight. A peer that never stops sending is not waited for.
void close_gently(Transport& transport) {
  transport.close_send();
  transport.set_receive_timeout(std::chrono::milliseconds(200));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  std::uint8_t byte[1];
  while (std::chrono::steady_clock::now() < end && transport.receive(byte).is_ok()) {
  }
}

// A request that cannot be parsed has no id: the refusal is sent with id 0 and is the last frame.
void refuse_stream(rpc::Connection& connection, Activity& activity, const Status& failure) {
  activity.sending.store(true);
  if (connection.send_failure(rpc::FrameHeader{}, failure).is_ok()) close_gently(connection.transport());
}

Result<rpc::Frame> next_request(rpc::Connection& connection) {
  try {
    FERRY_ASSIGN(const rpc::Frame frame, connection.receive_frame());
    if (frame.header.kind != rpc::FrameKind::request) {
      return Status(ErrorCode::protocol_error, "expected a request, got a response or an event");
    }
    // Id 0 stands for the connection.
    if (frame.header.request == 0) {
      return Status(ErrorCode::protocol_error, "expected a request id other than 0, got 0");
    }
    return frame;
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::resource_exhausted, "the server has no memory left to read a request");
  }
}

// Returns whether nothing arrives for so long that the client must have received all its answers. The requests after an
// upload are often still being written when the upload is answered.
bool is_client_waiting(rpc::Connection& connection) {
  constexpr int kTimeoutMs = 5;
  if (connection.has_buffered_input()) return false;
  pollfd entry{connection.transport().native_handle(), POLLIN, 0};
  return entry.fd < 0 || poll(&entry, 1, kTimeoutMs) == 0;
}

// Opens the devices that the client requested, in its order.
Status open_devices(SessionState& state, const OtherDevices& devices, const rpc::Frame& first) {
  FERRY_ASSIGN(const rpc::Open open, rpc::decode<rpc::Open>(first.body));
  for (const std::string& name : open.devices) {
    if (name == rpc::kAnyDevice) continue;
    FERRY_ASSIGN(const DeviceId id, parse_device_id(name));
    if (id == DeviceId{}) continue;  // the CPU, which is open already
    if (devices.open == nullptr) return {ErrorCode::unsupported, "this server has no device '" + name + "'"};
    FERRY_ASSIGN(auto device, devices.open(id, state.budget));
    state.devices.push_back(std::move(device));
  }
  return {};
}

void store_uploads(SessionState& state, rpc::Connection& connection, Activity& activity) {
  const Status stored = store_modules(state);
  if (stored.is_ok()) return;
  activity.sending.store(true);
  // If the client is gone, reading its next request reports it.
  (void)connection.send_event(rpc::EventTag::log, rpc::LogEvent{0, stored.message()});
  activity.sending.store(false);
}

}  // namespace

void run_session(std::unique_ptr<Transport> transport, const SessionOptions& options, SessionAccess access,
                 Activity& activity, const rpc::Frame& first) {
  rpc::Connection connection(std::move(transport));
  SessionState state(options.facts, std::move(access));
  state.limits = options.limits;
  state.join = options.other_devices.join;
  auto cpu = std::make_unique<CpuDevice>(state.facts.devices.front(), state.facts.threads, state.budget);
  cpu->set_print_tail(&activity.printed);
  cpu->share_memory(state.access.isolation.memory.get());
  state.devices.push_back(std::move(cpu));
  if (const Status opened = open_devices(state, options.other_devices, first); !opened.is_ok()) {
    activity.sending.store(true);
    if (connection.send_failure(first.header, opened).is_ok()) close_gently(connection.transport());
    return;
  }
  bool goes_on = dispatch(state, connection, activity, first);
  while (goes_on) {
    if (!state.unstored.empty() && is_client_waiting(connection)) store_uploads(state, connection, activity);
    const Result<rpc::Frame> request = next_request(connection);
    if (!request.is_ok()) {
      if (request.status().code() != ErrorCode::unavailable) refuse_stream(connection, activity, request.status());
      break;
    }
    goes_on = dispatch(state, connection, activity, request.value());
  }
  (void)store_modules(state);
}

}  // namespace ferry::device
