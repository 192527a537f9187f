// Whether somebody is still there at the other end of a TCP connection, when he says nothing. Other sockets have no
// such doubts: their system knows.
#pragma once

#include <cstdint>

namespace ferry {

// From now on the system asks the other end's whenever nothing has come for a while, and ends the connection when that
// stays silent: within 8 s.
void ask_for_signs_of_life(int socket);

// Something was sent and the other end's system has acknowledged nothing for so long that it must be gone. While
// something waits to be acknowledged, the system does not ask but repeats it, for a quarter of an hour.
bool is_silent(int socket);
inline constexpr std::uint32_t kSilentMs = 8000;

}  // namespace ferry
