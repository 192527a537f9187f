// Requests that upload, list and unload modules.
#pragma once

#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

Result<rpc::PutModuleReply> handle_put_module(SessionState& state, RequestContext& context,
                                              const rpc::PutModule& request);
Result<rpc::ListModulesReply> handle_list_modules(SessionState& state, RequestContext& context,
                                                  const rpc::ListModules& request);
Result<rpc::Empty> handle_unload_module(SessionState& state, RequestContext& context, const rpc::UnloadModule& request);

// Stores the files of uploaded modules for later sessions. Writing a file takes longer than loading the module, so this
// happens when the client is idle. A full disk costs later sessions an upload but does not fail this one, so the status
// is only for the log.
Status store_modules(SessionState& state);

}  // namespace ferry::device
