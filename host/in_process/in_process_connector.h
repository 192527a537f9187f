// inproc://: kernels run in this process, where a crash takes the process along.
#pragma once

#include "host/client/connect/schemes.h"

namespace ferry::session {

Scheme in_process_scheme();

}  // namespace ferry::session
