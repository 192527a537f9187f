// Detects whether the other end of a TCP connection is still there when it sends nothing. Other sockets do not need
// this: they are local, so the system knows.
#pragma once

#include <cstdint>

namespace ferry {

// Enables TCP keepalive: from now on the system probes the other end's system whenever nothing has arrived for a while,
// and ends the connection within 8 s if there is no answer.
void enable_keepalive(int socket);

// Returns whether the other end's system has answered nothing for so long that it must be gone. Either sent data is not
// acknowledged, or the other end's receive window is closed (its program does not read) and window probes are not
// answered. In both states the system sends no keepalive probes and would keep trying for a quarter of an hour. Linux
// before 6.15 doubles the pause between window probes, so detection may take up to three times as long as the window
// had already been closed.
bool is_silent(int socket);
inline constexpr std::uint32_t kSilentMs = 8000;

// Returns whether the other end has closed the connection, or is silent.
bool is_peer_gone(int socket);

}  // namespace ferry
