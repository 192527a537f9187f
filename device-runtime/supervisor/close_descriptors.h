// Closes inherited descriptors in processes that the supervisor forks: they must not access its listener, its clients
// or its event queue. An inherited copy would also keep other clients' connections open after they were closed, and the
// port occupied after the server has ended.
#pragma once

namespace ferry::device {

// Closes all descriptors but the three standard streams and `keep`; -1 keeps none.
void close_descriptors_but(int keep);

}  // namespace ferry::device
