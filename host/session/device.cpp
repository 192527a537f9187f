#include <cmath>
#include <cstdlib>

#include "crosscompile/target/resolve.h"
#include "host/session/state.h"
#include "rpc/transport/socket.h"
#include "rpc/transport/tcp.h"

namespace ferry {

namespace {

constexpr std::uint16_t kDefaultPort = 9090;

session::EventHandlers handlers_of(const ConnectOptions& options, const detail::DeviceState& state) {
  session::EventHandlers handlers;
  handlers.locate = [&state](const Hash& module, std::uint64_t offset) { return state.locate(module, offset); };
  if (options.log) handlers.log = [log = options.log](const rpc::LogEvent& event) { log(event.text); };
  if (options.queued) {
    handlers.waiting = [queued = options.queued](const rpc::WaitingEvent& event) {
      queued({event.position, event.holder, static_cast<double>(event.holder_ms) * 1e-3});
    };
  }
  return handlers;
}

std::uint64_t milliseconds(double seconds) {
  if (!(seconds >= 0 && seconds <= 1e9)) {
    throw RemoteError(ErrorCode::invalid_argument,
                      "a deadline: expected 0 to 1e9 seconds, got " + std::to_string(seconds));
  }
  return static_cast<std::uint64_t>(std::ceil(seconds * 1e3));
}

session::Wishes wishes_of(const ConnectOptions& options) {
  session::Wishes wishes;
  wishes.devices = options.devices;
  wishes.limits = {milliseconds(options.deadlines.call), milliseconds(options.deadlines.session),
                   milliseconds(options.deadlines.idle)};
  wishes.wait_for_debugger = options.wait_for_debugger;
  wishes.queue_patience = std::chrono::milliseconds(milliseconds(options.deadlines.queue));
  return wishes;
}

}  // namespace

Device connect(std::string_view address, const ConnectOptions& options) {
  const TcpAddress parsed = session::take(parse_tcp_address(address, kDefaultPort));
  auto state = std::make_shared<detail::DeviceState>();
  state->name = to_text(parsed);
  state->client = std::make_unique<session::Client>(session::take(connect_tcp(parsed.host, parsed.port)), state->name,
                                                    handlers_of(options, *state), wishes_of(options));
  return Device(std::move(state));
}

ServerStatus server_status(std::string_view address, const ConnectOptions&) {
  const TcpAddress parsed = session::take(parse_tcp_address(address, kDefaultPort));
  const rpc::StatusReply reply =
      session::ask_status(session::take(connect_tcp(parsed.host, parsed.port)), to_text(parsed));
  const auto clients = [](const std::vector<rpc::ClientListing>& listings) {
    std::vector<ServerClient> list;
    for (const rpc::ClientListing& one : listings) {
      list.push_back({one.number, one.client, one.peer, static_cast<double>(one.since_ms) * 1e-3, one.function,
                      static_cast<double>(one.running_ms) * 1e-3});
    }
    return list;
  };
  return {
      to_text(parsed),         reply.server_version,  reply.device,         static_cast<double>(reply.uptime_ms) * 1e-3,
      reply.max_sessions,      reply.max_waiting,     reply.sessions_ended, reply.sessions_failed,
      clients(reply.sessions), clients(reply.waiting)};
}

Device local_device(const ConnectOptions& options) {
  auto state = std::make_shared<detail::DeviceState>();
  state->name = "this machine";
  state->server = std::make_unique<session::LocalServer>(session::find_rpc_server());
  auto transport = session::take(wrap_socket(state->server->take_socket()));
  try {
    state->client = std::make_unique<session::Client>(std::move(transport), state->name, handlers_of(options, *state),
                                                      wishes_of(options));
  } catch (const RemoteError&) {
    state->server->check_running();
    throw;
  }
  return Device(std::move(state));
}

const DeviceFacts& Device::facts() const { return state_->client->facts(); }

Target Device::target() const { return target_of(facts()); }

const std::string& Device::name() const { return state_->name; }

Module Device::load(const CompiledModule& module) const {
  return Module(std::make_shared<detail::ModuleState>(state_, module));
}

Tensor Device::empty(DType dtype, Shape shape) const {
  return Tensor(std::make_shared<detail::TensorState>(state_, dtype, std::move(shape)));
}

Tensor Device::filled(DType dtype, Shape shape, FillKind kind, std::uint64_t seed) const {
  Tensor tensor = empty(dtype, std::move(shape));
  rpc::Fill fill;
  fill.buffer = tensor.state_->handle;
  fill.kind = kind;
  fill.dtype = dtype;
  fill.elements = tensor.elements();
  fill.seed = seed;
  state_->client->post(fill);
  return tensor;
}

Tensor Device::put(const View& data) const {
  auto tensor = std::make_shared<detail::TensorState>(state_, data.dtype, data.shape, data.strides);
  detail::write_span(*tensor, data.data);
  return Tensor(std::move(tensor));
}

std::vector<std::string> Device::read_files(const std::vector<std::string>& paths) const {
  return state_->client->call(rpc::ReadFiles{paths}).texts;
}

void Device::synchronize() const { state_->client->synchronize(); }

}  // namespace ferry
