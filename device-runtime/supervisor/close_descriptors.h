// For processes that the supervisor forks: its listener, its clients and its event queue are none of their business. An
// inherited copy would also keep other clients' connections open after they were closed, and the port taken after the
// server has ended.
#pragma once

namespace ferry::device {

// All but the three standard streams and `keep`; -1 keeps none.
void close_descriptors_but(int keep);

}  // namespace ferry::device
