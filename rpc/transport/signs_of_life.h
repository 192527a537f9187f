// Whether somebody is still there at the other end of a TCP connection, when he says nothing. Other sockets have no
// such doubts: their system knows.
#pragma once

#include <cstdint>

namespace ferry {

// From now on the system asks the other end's whenever nothing has come for a while, and ends the connection when that
// stays silent: within 8 s.
void ask_for_signs_of_life(int socket);

// The other end's system has answered nothing for so long that it must be gone: something was sent and is not
// acknowledged, or the other end takes nothing more in (its program does not read) and does not answer when it is asked
// whether it would again. In both states the system sends no signs of life of its own, and goes on for a quarter of an
// hour. Systems before Linux 6.15 ask about a closed window at pauses that double, so there it may take up to three
// times as long as the window had been closed already.
bool is_silent(int socket);
inline constexpr std::uint32_t kSilentMs = 8000;

}  // namespace ferry
