// Ends a session before the last handle of it is gone.
#pragma once

#include "ferry/api.h"
#include "ferry/client.h"

namespace ferry::session {

// Closes the connection: a thread that waits for the device gets an error. May be called while another thread uses the
// device; a device in this process is not interrupted.
FERRY_API void interrupt(const Device& device);

// Ends the session, and with it the server if that was started for it and the lease of the board. Handles of the
// session remain, and fail. To close twice does nothing.
FERRY_API void close(const Device& device);

}  // namespace ferry::session
