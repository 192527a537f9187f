// Requests that bring, list and forget modules.
#pragma once

#include "device-runtime/handlers/session_state.h"

namespace ferry::device {

Result<rpc::PutModuleReply> handle_put_module(SessionState& state, Exchange& exchange, const rpc::PutModule& request);
Result<rpc::ListModulesReply> handle_list_modules(SessionState& state, Exchange& exchange,
                                                  const rpc::ListModules& request);
Result<rpc::Empty> handle_unload_module(SessionState& state, Exchange& exchange, const rpc::UnloadModule& request);

// Keeps the files of uploaded modules for later sessions. Making a file takes longer than loading the module, so it
// waits until the client does. A full disk costs later sessions an upload, not this one its module: the status is for
// the log.
Status store_modules(SessionState& state);

}  // namespace ferry::device
