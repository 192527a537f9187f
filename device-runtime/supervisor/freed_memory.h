// A session is a copy of the supervisor, and with that of all that the supervisor has freed and not yet used again:
// what went to other clients in its time.
#pragma once

namespace ferry::device {

// Whether memory is wiped before it is freed, whatever lay in it. For the supervisor; a session frees large tensors,
// and nobody inherits its memory.
void wipe_freed_memory(bool wipe);

}  // namespace ferry::device
