// Requests that bring, list and forget modules.
#pragma once

#include "device-runtime/handlers/session_state.h"

namespace ferry::device {

Result<rpc::PutModuleReply> handle_put_module(SessionState& state, Exchange& exchange, const rpc::PutModule& request);
Result<rpc::ListModulesReply> handle_list_modules(SessionState& state, Exchange& exchange,
                                                  const rpc::ListModules& request);
Result<rpc::Empty> handle_unload_module(SessionState& state, Exchange& exchange, const rpc::UnloadModule& request);

}  // namespace ferry::device
