#include "device-runtime/handlers/dispatch.h"

#include <new>

#include "device-runtime/handlers/calls.h"
#include "device-runtime/handlers/consequences.h"
#include "device-runtime/handlers/info.h"
#include "device-runtime/handlers/memory.h"
#include "device-runtime/handlers/modules.h"
#include "rpc/base/format.h"

namespace ferry::device {
namespace {

template <class Request>
using Handler = Result<typename rpc::MessageOf<Request>::Reply> (*)(SessionState&, Exchange&, const Request&);

// The standard library throws when there is no memory; that must cost one request, not the session.
template <class Request>
Result<typename rpc::MessageOf<Request>::Reply> run(Handler<Request> handler, SessionState& state, Exchange& exchange,
                                                    const Request& request) {
  try {
    return handler(state, exchange, request);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::resource_exhausted, "the server has no memory left for this request");
  }
}

template <class Request>
void answer(Handler<Request> handler, SessionState& state, Exchange& exchange, ByteSpan body) {
  Result<Request> request = rpc::decode<Request>(body);
  if (!request.is_ok()) return exchange.refuse(request.status());
  auto reply = run<Request>(handler, state, exchange, request.value());
  if (reply.is_ok()) return exchange.answer(reply.value());
  mark_failed(state, exchange, request.value());
  exchange.refuse(reply.status());
}

}  // namespace

bool dispatch(SessionState& state, rpc::Connection& connection, Activity& activity, const rpc::Frame& frame) {
  Exchange exchange(connection, frame.header, activity);
  const auto reply_with = [&]<class Request>(Handler<Request> handler) {
    answer<Request>(handler, state, exchange, frame.body);
  };
  switch (static_cast<rpc::Tag>(frame.header.tag)) {
    case rpc::Tag::Hello: reply_with(&handle_hello); break;
    case rpc::Tag::Ping: reply_with(&handle_ping); break;
    case rpc::Tag::PutModule: reply_with(&handle_put_module); break;
    case rpc::Tag::ListModules: reply_with(&handle_list_modules); break;
    case rpc::Tag::UnloadModule: reply_with(&handle_unload_module); break;
    case rpc::Tag::Alloc: reply_with(&handle_alloc); break;
    case rpc::Tag::Free: reply_with(&handle_free); break;
    case rpc::Tag::Write: reply_with(&handle_write); break;
    case rpc::Tag::Read: reply_with(&handle_read); break;
    case rpc::Tag::Fill: reply_with(&handle_fill); break;
    case rpc::Tag::Copy: reply_with(&handle_copy); break;
    case rpc::Tag::Call: reply_with(&handle_call); break;
    case rpc::Tag::Measure: reply_with(&handle_measure); break;
    case rpc::Tag::Facts: reply_with(&handle_facts); break;
    case rpc::Tag::Close: reply_with(&handle_close); break;
  }
  exchange.refuse({ErrorCode::unsupported, format("this server does not know messages of tag %u", frame.header.tag)});
  return !exchange.session_ends();
}

}  // namespace ferry::device
