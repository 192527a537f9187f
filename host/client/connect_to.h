// Opens sessions on devices that are found already, such as the board of a lease, whose key is in no file.
#pragma once

#include <functional>

#include "ferry/client.h"
#include "host/client/destination.h"

namespace ferry::session {

// Called with each socket before anything is sent over it. The socket belongs to the session; shutting down a duplicate
// of it, on any thread, ends the session at once.
using OnSocket = std::function<void(int socket)>;

// As ferry::connect(), whose options' key_file is not used.
Device connect_to(const Destination& to, const ConnectOptions& options, const OnSocket& on_socket = {});

}  // namespace ferry::session
