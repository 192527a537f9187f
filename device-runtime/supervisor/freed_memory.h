// A session is a forked copy of the supervisor, including memory that the supervisor has freed but not yet reused,
// which may hold data of other clients.
#pragma once

namespace ferry::device {

// Sets whether memory is wiped before it is freed. Meant for the supervisor: a session frees large tensors, and no
// process inherits its memory.
void wipe_freed_memory(bool wipe);

}  // namespace ferry::device
