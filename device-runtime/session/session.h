// One client's session, in a process of its own: a blocking loop that reads a request, answers it, and reads the next.
#pragma once

#include <memory>
#include <string>

#include "device-runtime/device/drivers.h"
#include "device-runtime/sandbox/sandbox.h"
#include "device-runtime/session/state/activity.h"
#include "device-runtime/session/state/session_access.h"
#include "ferry/device_facts.h"
#include "rpc/transport/transport.h"
#include "rpc/wire/connection.h"

namespace ferry::device {

struct SessionOptions {
  DeviceFacts facts;  // the server's; threads and memory limit are the session's
  rpc::TimeLimits limits = {};
  SandboxOptions sandbox = {};
  bool perf_map = false;  // register kernels with perf
  OtherDevices other_devices = {};
  int clients_object = -1;  // the session takes this object of memory, which its client has mapped; -1: one of its own
};

// Serves the client until it closes the connection, vanishes or breaks the protocol. `first` is its open,
// which has been read from the transport and validated. Starts threads when kernels need them.
void run_session(std::unique_ptr<Transport> transport, const SessionOptions& options, SessionAccess access,
                 Activity& activity, const rpc::Frame& first);

}  // namespace ferry::device
