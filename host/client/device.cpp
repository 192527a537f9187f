#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "ferry/server_status.h"
#include "host/client/connect_to.h"
#include "host/client/leased_board.h"
#include "host/client/state.h"
#include "rpc/secure/client_handshake.h"
#include "rpc/transport/socket.h"
#include "rpc/transport/tcp.h"

namespace ferry {

namespace {

constexpr std::chrono::seconds kHandshakeTimeout{5};
// To a board that can also be reached through its tracker.
constexpr std::chrono::seconds kDirectTimeout{2};
constexpr int kMaxAttempts = 3;
constexpr std::chrono::milliseconds kSoonLost{1000};
constexpr std::chrono::milliseconds kRetryPause{100};

session::EventHandlers handlers_of(const ConnectOptions& options, const detail::DeviceState& state) {
  session::EventHandlers handlers;
  if (options.source_line) {
    handlers.locate = [&state, source_line = options.source_line](const Hash& module, std::uint64_t offset) {
      return state.locate(module, offset, source_line);
    };
  }
  if (options.log) handlers.log = [log = options.log](const rpc::LogEvent& event) { log(event.text); };
  if (options.queued) {
    handlers.waiting = [queued = options.queued](const rpc::WaitingEvent& event) {
      queued({event.position, event.holder, static_cast<double>(event.holder_ms) * 1e-3});
    };
  }
  if (state.board != nullptr) {
    handlers.explain_end = [board = state.board] { return board->why_ended(); };
  }
  return handlers;
}

std::uint64_t milliseconds(double seconds) {
  if (!(seconds >= 0 && seconds <= 1e9)) {
    throw Error(ErrorCode::invalid_argument, "a deadline: expected 0 to 1e9 seconds, got " + std::to_string(seconds));
  }
  return static_cast<std::uint64_t>(std::ceil(seconds * 1e3));
}

session::SessionOptions session_options_of(const ConnectOptions& options) {
  session::SessionOptions session_options;
  session_options.devices = options.devices;
  session_options.limits = {milliseconds(options.deadlines.call), milliseconds(options.deadlines.session),
                            milliseconds(options.deadlines.idle)};
  session_options.wait_for_debugger = options.wait_for_debugger;
  session_options.guard_memory = options.guard_tensors;
  session_options.queue_timeout = std::chrono::milliseconds(milliseconds(options.deadlines.queue));
  return session_options;
}

std::string no_ferry_server(const std::string& name) {
  return name + " does not answer: something listens there, but it is no ferry rpc_server";
}

std::string key_name(const session::Destination& to) {
  return to.key_file.empty() ? "the key" : "the key in " + to.key_file;
}

// Performs the handshake; failures say which key was used.
std::unique_ptr<Transport> encrypted(std::unique_ptr<Transport> transport, const session::Destination& to) {
  auto result = secure::encrypt_connection(std::move(transport), *to.key, kHandshakeTimeout);
  if (result.is_ok()) return std::move(result.value());
  const Status status = result.status();
  switch (status.code()) {
    case ErrorCode::unauthenticated:
      if (to.is_leased) {
        throw Error(status.code(), to.name + " does not serve this lease any more: " + status.message());
      }
      throw Error(status.code(), to.name + " does not accept " + key_name(to) + " (id " +
                                     secure::to_text(to.key->id()) + "): " + status.message());
    case ErrorCode::deadline_exceeded:
    case ErrorCode::protocol_error: throw Error(ErrorCode::unavailable, no_ferry_server(to.name));
    case ErrorCode::unavailable:
      throw Error(status.code(), to.name + " hung up before it said who it is (" + status.message() +
                                     "): perhaps it is no ferry rpc_server");
    default: throw Error(status.code(), to.name + ": " + status.message());
  }
}

session::OpenedTransport link_over(std::unique_ptr<Transport> transport, const session::Destination& to) {
  session::OpenedTransport link(std::move(transport));
  link.encrypted = to.transport == session::TransportKind::encrypted;
  if (link.encrypted) link.transport = encrypted(std::move(link.transport), to);
  return link;
}

// Connects to the board itself, or else, if it is one of a farm, through its tracker.
std::unique_ptr<Transport> reach(const session::Destination& to, bool& is_relayed) {
  if (!to.relay) return take(connect_tcp(to.tcp.host, to.tcp.port));
  Status unreachable(ErrorCode::unavailable, "it could not be reached before");
  if (!*to.relay->is_needed) {
    auto direct = connect_tcp(to.tcp.host, to.tcp.port, kDirectTimeout);
    if (direct.is_ok()) return std::move(direct.value());
    unreachable = direct.status();
  }
  auto relayed = farm::open_relay(*to.relay);
  is_relayed = relayed.is_ok();
  *to.relay->is_needed = is_relayed;
  if (is_relayed) return std::move(relayed.value());
  throw Error(ErrorCode::unavailable, to.name + ": " + unreachable.message() +
                                          "; nor can it be reached through the tracker: " + relayed.status().message());
}

// Before a session is open nothing has run on the device, so a connection that breaks early may be opened again. One
// that is rejected, or times out, is not retried.
template <class Open>
auto open_with_retries(const session::Destination& to, const ConnectOptions& options, Open open,
                       const session::OnSocket& on_socket = {}) {
  for (int attempt = 1;; ++attempt) {
    bool is_relayed = false;
    auto transport = reach(to, is_relayed);
    if (on_socket) on_socket(transport->native_handle());
    const auto start = std::chrono::steady_clock::now();
    try {
      session::OpenedTransport link = link_over(std::move(transport), to);
      link.is_relayed = is_relayed;
      return open(std::move(link));
    } catch (const Error& error) {
      const bool lost = error.code() == ErrorCode::unavailable && std::chrono::steady_clock::now() - start < kSoonLost;
      if (!lost || attempt == kMaxAttempts) throw;
      if (options.log) options.log(std::string(error.what()) + "; nothing has run there yet, so trying again");
      std::this_thread::sleep_for(attempt * kRetryPause);
    }
  }
}

}  // namespace

Device connect(std::string_view address, const ConnectOptions& options) {
  const SharedBoard board =
      options.board != nullptr ? options.board : share_boards({std::string(address)}, options.key_file).front();
  if (board == nullptr) return session::connect_to(session::find_destination(address, options.key_file), options);
  const session::Destination to = board->destination(options, board);
  try {
    return session::connect_to(to, options);
  } catch (const Error& error) {
    const std::string why = board->why_ended();
    if (why.empty()) throw;
    throw Error(ErrorCode::unavailable, why + " (" + error.what() + ")");
  }
}

Device session::connect_to(const Destination& to, const ConnectOptions& options, const OnSocket& on_socket) {
  auto state = std::make_shared<detail::DeviceState>();
  state->name = to.name;
  state->board_name = to.board_name.empty() ? to.name : to.board_name;
  state->board = to.board;
  if (to.transport == session::TransportKind::ssh) {
    state->ssh_server = std::make_unique<session::SshServer>(to.ssh, to.name, options.log, to.claim, to.ssh_options);
    auto transport = take(wrap_socket(state->ssh_server->take_socket()));
    if (on_socket) on_socket(transport->native_handle());
    try {
      state->client = std::make_unique<session::Client>(std::move(transport), state->name, handlers_of(options, *state),
                                                        session_options_of(options));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::unavailable) state->ssh_server->check_running();
      throw;
    }
    return detail::Access::device(std::move(state));
  }
  state->client = open_with_retries(
      to, options,
      [&](session::OpenedTransport link) {
        if (link.is_relayed) state->name = to.name + ", through relay";
        return std::make_unique<session::Client>(std::move(link), state->name, handlers_of(options, *state),
                                                 session_options_of(options));
      },
      on_socket);
  return detail::Access::device(std::move(state));
}

ServerStatus server_status(std::string_view address, const ConnectOptions& options) {
  const session::Destination to = session::find_destination(address, options.key_file);
  if (to.transport == session::TransportKind::ssh) {
    throw Error(ErrorCode::invalid_argument,
                to.name + " is served alone, by a server of its own: there is nobody to ask who else uses it");
  }
  if (to.transport == session::TransportKind::farm) {
    throw Error(ErrorCode::invalid_argument, to.name + " is whichever board is free: 'ferry farm devices " +
                                                 to.farm_address.selector +
                                                 "' shows these boards and who has them, 'ferry farm queue' who waits");
  }
  const rpc::StatusReply reply = open_with_retries(
      to, options, [&](session::OpenedTransport link) { return session::ask_status(std::move(link), to.name); });
  const auto clients = [](const std::vector<rpc::ClientListing>& listings) {
    std::vector<ServerClient> list;
    for (const rpc::ClientListing& one : listings) {
      list.push_back({one.number, one.client, one.peer, static_cast<double>(one.since_ms) * 1e-3, one.function,
                      static_cast<double>(one.running_ms) * 1e-3});
    }
    return list;
  };
  return {to.name,
          reply.server_version,
          reply.device,
          static_cast<double>(reply.uptime_ms) * 1e-3,
          reply.max_sessions,
          reply.max_waiting,
          reply.sessions_ended,
          reply.sessions_failed,
          clients(reply.sessions),
          clients(reply.waiting)};
}

Device local_device(const ConnectOptions& options) {
  auto state = std::make_shared<detail::DeviceState>();
  state->name = state->board_name = "this machine";
  state->server = std::make_unique<session::LocalServer>(session::find_rpc_server());
  auto transport = take(wrap_socket(state->server->take_socket()));
  try {
    state->client = std::make_unique<session::Client>(std::move(transport), state->name, handlers_of(options, *state),
                                                      session_options_of(options));
  } catch (const Error& error) {
    // A server also ends after rejecting its only client, which is not the cause of the failure.
    if (error.code() == ErrorCode::unavailable) state->server->check_running();
    throw;
  }
  return Device(std::move(state));
}

const DeviceFacts& Device::facts() const { return state_->client->facts(); }

std::string Device::processor() const { return state_->client->processor(); }

const std::string& Device::name() const { return state_->name; }
const std::string& Device::board() const { return state_->board_name; }

Module Device::load(const CompiledModule& module) const {
  return Module(std::make_shared<detail::ModuleState>(state_, module));
}

DeviceTensor Device::empty(DType dtype, Shape shape) const {
  return DeviceTensor(std::make_shared<detail::TensorState>(state_, dtype, std::move(shape)));
}

DeviceTensor Device::filled(DType dtype, Shape shape, FillKind kind, std::uint64_t seed) const {
  DeviceTensor tensor = empty(dtype, std::move(shape));
  rpc::Fill fill;
  fill.buffer = tensor.state_->handle;
  fill.kind = kind;
  fill.dtype = dtype;
  fill.elements = tensor.elements();
  fill.seed = seed;
  state_->client->post(fill);
  return tensor;
}

DeviceTensor Device::put(const View& data) const {
  auto tensor = std::make_shared<detail::TensorState>(state_, data.dtype, data.shape, data.strides);
  detail::write_span(*tensor, data.data);
  return DeviceTensor(std::move(tensor));
}

std::vector<std::string> Device::read_files(const std::vector<std::string>& paths) const {
  std::vector<std::string> texts = state_->client->call(rpc::ReadFiles{paths}).texts;
  if (texts.size() == paths.size()) return texts;
  throw Error(ErrorCode::protocol_error,
              name() + ": expected " + std::to_string(paths.size()) + " files, got " + std::to_string(texts.size()));
}

void Device::synchronize() const { state_->client->synchronize(); }

}  // namespace ferry
