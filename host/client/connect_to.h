// Opens sessions on devices.
#pragma once

#include <functional>
#include <string_view>

#include "ferry/client.h"
#include "ferry/server_status.h"
#include "host/client/connect/connector.h"
#include "host/client/connect/schemes.h"

namespace ferry::session {

// Called with each socket before anything is sent over it. The socket belongs to the session; shutting down a duplicate
// of it, on any thread, ends the session at once.
using OnSocket = std::function<void(int socket)>;

// Opens a session on the device that the connector reaches. The device does not need the connector any more. Throws
// Error.
Device connect_to(Connector& connector, const ConnectOptions& options, const OnSocket& on_socket = {});

// These do what ferry::connect() and ferry::server_status() do, for the addresses of these schemes.
Device connect_to(const Schemes& schemes, std::string_view remote, const ConnectOptions& options);
ServerStatus server_status(const Schemes& schemes, std::string_view remote, const ConnectOptions& options);

}  // namespace ferry::session
