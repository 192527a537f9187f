#include <cstdlib>

#include "crosscompile/target/resolve.h"
#include "host/session/state.h"
#include "rpc/transport/socket.h"
#include "rpc/transport/tcp.h"

namespace ferry {

namespace {

constexpr std::uint16_t kDefaultPort = 9090;

session::EventHandlers handlers_of(const ConnectOptions& options) {
  session::EventHandlers handlers;
  if (options.log) handlers.log = [log = options.log](const rpc::LogEvent& event) { log(event.text); };
  if (options.queued) {
    handlers.queued = [queued = options.queued](const rpc::QueuedEvent& event) { queued(event.position); };
  }
  return handlers;
}

}  // namespace

Device connect(std::string_view address, const ConnectOptions& options) {
  const TcpAddress parsed = session::take(parse_tcp_address(address, kDefaultPort));
  auto state = std::make_shared<detail::DeviceState>();
  state->name = to_text(parsed);
  state->client = std::make_unique<session::Client>(session::take(connect_tcp(parsed.host, parsed.port)), state->name,
                                                    handlers_of(options));
  return Device(std::move(state));
}

Device local_device(const ConnectOptions& options) {
  auto state = std::make_shared<detail::DeviceState>();
  state->name = "this machine";
  state->server = std::make_unique<session::LocalServer>(session::find_rpc_server());
  auto transport = session::take(wrap_socket(state->server->take_socket()));
  try {
    state->client = std::make_unique<session::Client>(std::move(transport), state->name, handlers_of(options));
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

void Device::synchronize() const { state_->client->synchronize(); }

}  // namespace ferry
