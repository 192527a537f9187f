// All that a session can reach outside of its process, apart from its client and a GPU.
#pragma once

#include "device-runtime/broker/file_broker.h"
#include "device-runtime/facts/session_files.h"
#include "device-runtime/runner/isolation.h"

namespace ferry::device {

struct SessionAccess {
  FileBroker broker = FileBroker();
  SessionFiles files = {};
  Isolation isolation = {};
};

}  // namespace ferry::device
