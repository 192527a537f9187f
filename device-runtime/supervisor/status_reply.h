// The answer to a client that asks what the server is doing.
#pragma once

#include "device-runtime/supervisor/session_table.h"
#include "rpc/messages.h"
#include "rpc/server/admission_queue.h"

namespace ferry::device {

// Adds the sessions, their counts and the clients that wait.
void add_clients(rpc::StatusReply& reply, const SessionTable& table, const server::AdmissionQueue& waiting);

}  // namespace ferry::device
