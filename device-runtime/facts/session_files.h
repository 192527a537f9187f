// The files of /proc and /sys that a session reads once it is confined, and can no longer open.
#pragma once

#include "base/descriptor.h"

namespace ferry::device {

struct SessionFiles {
  Descriptor meminfo;
  Descriptor memory_limit, memory_used;  // the control group's
  Descriptor status;                     // the process's own
  Descriptor threads;                    // the folder with an entry for each thread of the process

  // In the session's own process. Files that do not exist have no descriptor.
  static SessionFiles open();
};

}  // namespace ferry::device
