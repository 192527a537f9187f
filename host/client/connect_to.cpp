#include "host/client/connect_to.h"

#include <chrono>
#include <cmath>
#include <thread>

#include "host/client/connect/local.h"
#include "host/client/state.h"
#include "rpc/secure/client_handshake.h"

namespace ferry::session {

namespace {

constexpr std::chrono::seconds kHandshakeTimeout{5};
constexpr int kMaxAttempts = 3;
constexpr std::chrono::milliseconds kSoonLost{1000};
constexpr std::chrono::milliseconds kRetryPause{100};

EventHandlers handlers_of(const ConnectOptions& options, const detail::DeviceState& state) {
  EventHandlers handlers;
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
  if (state.lease != nullptr) handlers.explain_end = [lease = state.lease] { return lease->why_ended(); };
  return handlers;
}

std::uint64_t milliseconds(double seconds) {
  if (!(seconds >= 0 && seconds <= 1e9)) {
    throw Error(ErrorCode::invalid_argument, "a deadline: expected 0 to 1e9 seconds, got " + std::to_string(seconds));
  }
  return static_cast<std::uint64_t>(std::ceil(seconds * 1e3));
}

SessionOptions session_options_of(const ConnectOptions& options) {
  SessionOptions session_options;
  session_options.devices = options.devices;
  session_options.limits = {milliseconds(options.deadlines.call), milliseconds(options.deadlines.session),
                            milliseconds(options.deadlines.idle)};
  session_options.wait_for_debugger = options.wait_for_debugger;
  session_options.guard_memory = options.guard_tensors;
  session_options.queue_timeout = std::chrono::milliseconds(milliseconds(options.deadlines.queue));
  return session_options;
}

// Performs the handshake; failures say which key was used.
std::unique_ptr<Transport> encrypted(std::unique_ptr<Transport> transport, const Link& link) {
  auto result = secure::encrypt_connection(std::move(transport), link.key->key, kHandshakeTimeout);
  if (result.is_ok()) return std::move(result.value());
  const Status status = result.status();
  switch (status.code()) {
    case ErrorCode::unauthenticated: {
      if (link.lease != nullptr) {
        throw Error(status.code(), link.name + " does not serve this lease any more: " + status.message());
      }
      const std::string key = link.key->file.empty() ? "the key" : "the key in " + link.key->file;
      throw Error(status.code(), link.name + " does not accept " + key + " (id " + secure::to_text(link.key->key.id()) +
                                     "): " + status.message());
    }
    case ErrorCode::deadline_exceeded:
    case ErrorCode::protocol_error:
      throw Error(ErrorCode::unavailable,
                  link.name + " does not answer: something listens there, but it is no ferry rpc_server");
    case ErrorCode::unavailable:
      throw Error(status.code(), link.name + " hung up before it said who it is (" + status.message() +
                                     "): perhaps it is no ferry rpc_server");
    default: throw Error(status.code(), link.name + ": " + status.message());
  }
}

// Calls open(transport, link), after the handshake if there is one.
template <class Open>
auto open_over(Link& link, const Open& open) {
  try {
    OpenedTransport opened(std::move(link.transport));
    opened.encrypted = link.key.has_value();
    if (opened.encrypted) opened.transport = encrypted(std::move(opened.transport), link);
    return open(std::move(opened), link);
  } catch (const Error& error) {
    // A server of its own also ends after rejecting its only client, which is not the cause of the failure.
    if (link.server != nullptr && error.code() == ErrorCode::unavailable) link.server->check_running();
    throw;
  }
}

// Before a session is open nothing has run on the device, so a connection that breaks early may be opened again. One
// that is rejected, or times out, is not retried, nor is one to a server that was started for it alone.
template <class Open>
auto open_with_retries(Connector& connector, const ConnectOptions& options, const OnSocket& on_socket,
                       const Open& open) {
  for (int attempt = 1;; ++attempt) {
    Link link = connector.open(options);
    if (on_socket) on_socket(link.transport->native_handle());
    const auto start = std::chrono::steady_clock::now();
    const bool is_own = link.server != nullptr;
    try {
      return open_over(link, open);
    } catch (const Error& error) {
      const bool lost = error.code() == ErrorCode::unavailable && std::chrono::steady_clock::now() - start < kSoonLost;
      const bool is_cancelled = options.is_cancelled && options.is_cancelled();
      if (!lost || is_own || is_cancelled || attempt == kMaxAttempts) throw_explained(link.lease.get(), error);
      if (options.log) options.log(std::string(error.what()) + "; nothing has run there yet, so trying again");
      std::this_thread::sleep_for(attempt * kRetryPause);
    }
  }
}

}  // namespace

Device connect_to(Connector& connector, const ConnectOptions& options, const OnSocket& on_socket) {
  return open_with_retries(connector, options, on_socket, [&](OpenedTransport opened, Link& link) {
    auto state = std::make_shared<detail::DeviceState>();
    state->name = link.name + (link.is_relayed ? ", through relay" : "");
    state->board_name = link.board.empty() ? link.name : link.board;
    state->lease = link.lease;
    state->direct = link.direct;
    state->client = std::make_unique<Client>(std::move(opened), state->name, handlers_of(options, *state),
                                             session_options_of(options));
    if (link.shared != nullptr) state->shared = std::make_unique<SharedTensors>(std::move(link.shared));
    state->server = std::move(link.server);
    return detail::Access::device(std::move(state));
  });
}

Device connect_to(const Schemes& schemes, std::string_view remote, const ConnectOptions& options) {
  const auto connector = options.board != nullptr ? options.board : schemes.connector(remote, options.key_file);
  return connect_to(*connector, options);
}

ServerStatus server_status(const Schemes& schemes, std::string_view remote, const ConnectOptions& options) {
  const auto connector = schemes.connector(remote, options.key_file);
  connector->expect_shared_server();
  std::string name;
  const rpc::StatusReply reply =
      open_with_retries(*connector, options, {}, [&](OpenedTransport opened, const Link& link) {
        name = link.name;
        return ask_status(std::move(opened), name);
      });
  const auto clients = [](const std::vector<rpc::ClientListing>& listings) {
    std::vector<ServerClient> list;
    for (const rpc::ClientListing& one : listings) {
      list.push_back({one.number, one.client, one.peer, static_cast<double>(one.since_ms) * 1e-3, one.function,
                      static_cast<double>(one.running_ms) * 1e-3});
    }
    return list;
  };
  return {name,
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

}  // namespace ferry::session

namespace ferry {

Device local_device(const ConnectOptions& options) {
  session::LocalConnector connector;
  return session::connect_to(connector, options);
}

}  // namespace ferry
