// The effects of a failed request on later ones: handles that it should have defined and contents that it should have
// written are recorded with its id. There is an overload for each request with the property kWrites.
#pragma once

#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

void mark_failed(SessionState& state, const RequestContext& context, const rpc::PutModule& request);
void mark_failed(SessionState& state, const RequestContext& context, const rpc::PutBlob& request);
void mark_failed(SessionState& state, const RequestContext& context, const rpc::Alloc& request);
void mark_failed(SessionState& state, const RequestContext& context, const rpc::Write& request);
void mark_failed(SessionState& state, const RequestContext& context, const rpc::Fill& request);
void mark_failed(SessionState& state, const RequestContext& context, const rpc::Copy& request);
void mark_failed(SessionState& state, const RequestContext& context, const rpc::Call& request);
void mark_failed(SessionState& state, const RequestContext& context, const rpc::Bind& request);
void mark_failed(SessionState& state, const RequestContext& context, const rpc::Evaluate& request);
void mark_failed(SessionState& state, const RequestContext& context, const rpc::TimeSteps& request);

}  // namespace ferry::device
