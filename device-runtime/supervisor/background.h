// Processes of the server for what takes long, or may block, beside sessions that measure times.
#pragma once

#include <sys/types.h>

namespace ferry::device {

// Called first in such a process: makes it a process group and, for the scheduler, a group of its own.
void begin_background();

// From now on the process group gets the processors and the disk only when nobody else wants them. Where the scheduler
// groups processes by session (autogroup), this takes root: otherwise the group still gets the share of one session.
void give_way(pid_t group);

// Closes the socket of a session whose processes may still be able to set how long that takes (SO_LINGER). Another
// process owns it last and is killed: processes that end do not wait for sockets.
void close_elsewhere(int socket);

}  // namespace ferry::device
