#include "device-runtime/handlers/dispatch.h"

#include <new>

#include "base/format.h"
#include "device-runtime/handlers/blobs.h"
#include "device-runtime/handlers/calls.h"
#include "device-runtime/handlers/contents.h"
#include "device-runtime/handlers/device_texts.h"
#include "device-runtime/handlers/evaluate.h"
#include "device-runtime/handlers/failure_propagation.h"
#include "device-runtime/handlers/info.h"
#include "device-runtime/handlers/instances.h"
#include "device-runtime/handlers/memory.h"
#include "device-runtime/handlers/modules.h"
#include "device-runtime/handlers/time_steps.h"

namespace ferry::device {
namespace {

template <class Request>
using Handler = Result<typename rpc::MessageOf<Request>::Reply> (*)(SessionState&, RequestContext&, const Request&);

// The standard library throws if memory is exhausted; that must fail the request, not the session.
template <class Request>
Result<typename rpc::MessageOf<Request>::Reply> run(Handler<Request> handler, SessionState& state,
                                                    RequestContext& context, const Request& request) {
  try {
    return handler(state, context, request);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::resource_exhausted, "the server has no memory left for this request");
  }
}

template <class Request>
void answer(Handler<Request> handler, SessionState& state, RequestContext& context, ByteSpan body) {
  Result<Request> request = rpc::decode<Request>(body);
  if (!request.is_ok()) return context.refuse(request.status());
  auto reply = run<Request>(handler, state, context, request.value());
  if (reply.is_ok()) return context.answer(reply.value());
  if constexpr ((rpc::MessageOf<Request>::kProperties & rpc::kWrites) != 0)
    mark_failed(state, context, request.value());
  context.refuse(reply.status());
}

}  // namespace

bool dispatch(SessionState& state, rpc::Connection& connection, Activity& activity, const rpc::Frame& frame) {
  RequestContext context(connection, frame.header, activity);
  const auto reply_with = [&]<class Request>(Handler<Request> handler) {
    answer<Request>(handler, state, context, frame.body);
    return !context.session_ends();
  };
  switch (static_cast<rpc::Tag>(frame.header.tag)) {
    case rpc::Tag::Ping: return reply_with(&handle_ping);
    case rpc::Tag::PutModule: return reply_with(&handle_put_module);
    case rpc::Tag::ListModules: return reply_with(&handle_list_modules);
    case rpc::Tag::UnloadModule: return reply_with(&handle_unload_module);
    case rpc::Tag::Alloc: return reply_with(&handle_alloc);
    case rpc::Tag::AllocShared: return reply_with(&handle_alloc_shared);
    case rpc::Tag::Free: return reply_with(&handle_free);
    case rpc::Tag::Write: return reply_with(&handle_write);
    case rpc::Tag::Read: return reply_with(&handle_read);
    case rpc::Tag::Fill: return reply_with(&handle_fill);
    case rpc::Tag::Copy: return reply_with(&handle_copy);
    case rpc::Tag::Facts: return reply_with(&handle_facts);
    case rpc::Tag::Close: return reply_with(&handle_close);
    case rpc::Tag::Open: return reply_with(&handle_open);
    case rpc::Tag::GetStatus: break;  // answered by the supervisor instead of a session
    case rpc::Tag::Evaluate: return reply_with(&handle_evaluate);
    case rpc::Tag::ReadFiles: return reply_with(&handle_read_files);
    case rpc::Tag::TimeSteps: return reply_with(&handle_time_steps);
    case rpc::Tag::Bind: return reply_with(&handle_bind);
    case rpc::Tag::Call: return reply_with(&handle_call);
    case rpc::Tag::GuardMemory: return reply_with(&handle_guard_memory);
    case rpc::Tag::FindBlobs: return reply_with(&handle_find_blobs);
    case rpc::Tag::PutBlob: return reply_with(&handle_put_blob);
    case rpc::Tag::Digest: return reply_with(&handle_digest);
    case rpc::Tag::Compare: return reply_with(&handle_compare);
  }
  context.refuse({ErrorCode::unsupported, format("this server does not know messages of tag %u", frame.header.tag)});
  return !context.session_ends();
}

}  // namespace ferry::device
