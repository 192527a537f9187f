// Requests that find and send blobs, and the constants in them.
#pragma once

#include <cstddef>
#include <vector>

#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

Result<rpc::FindBlobsReply> handle_find_blobs(SessionState& state, RequestContext& context,
                                              const rpc::FindBlobs& request);
Result<rpc::Empty> handle_put_blob(SessionState& state, RequestContext& context, const rpc::PutBlob& request);

// Returns the constants that a step, or the steps of a plan, read, some perhaps several times.
std::vector<std::size_t> constants_of(const Step& step);
std::vector<std::size_t> constants_of(const Plan& plan);
// Adds the constants that an init plan of the module reads and that are not there yet.
Status add_constants_to_bind(SessionState& state, RequestContext& context, const Manifest& manifest, const Plan& init,
                             ConstantMemory& constants);
// Takes the blobs of a module that has just been loaded: adds the constants that calls read, and keeps the blobs that
// init plans alone read until the first instance is bound. Fails with not_found if one is missing.
Status load_constants(SessionState& state, RequestContext& context, Module& module);

}  // namespace ferry::device
