// What a process that the supervisor forks does first.
#pragma once

#include <initializer_list>

namespace ferry::device {

// Gives the signals that the supervisor handles their ordinary effect. Called before descriptors are closed: the
// handlers write to one of them.
void reset_signals();

// Closes all descriptors but the three standard streams and those to keep, of which negative ones are none. The process
// must not access the supervisor's listener, its clients or its event queue; an inherited copy would also keep other
// clients' connections open after they were closed, and the port occupied after the server has ended.
void close_descriptors_but(std::initializer_list<int> keep);

}  // namespace ferry::device
