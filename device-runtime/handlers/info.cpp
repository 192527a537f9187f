#include "device-runtime/handlers/info.h"

#include <unistd.h>

#include "device-runtime/facts/facts.h"
#include "device-runtime/handlers/modules.h"
#include "rpc/wire/version.h"

namespace ferry::device {

Result<rpc::OpenReply> handle_open(SessionState& state, RequestContext&, const rpc::Open& request) {
  FERRY_ASSIGN(const std::uint32_t version, rpc::negotiate_version(request.version_min, request.version_max));
  refresh_facts(state.facts, state.access.files);
  state.wait_for_debugger = request.wait_for_debugger;
  return rpc::OpenReply{version, state.facts, state.limits, static_cast<std::uint64_t>(getpid())};
}

Result<rpc::Empty> handle_ping(SessionState&, RequestContext&, const rpc::Ping&) { return rpc::Empty{}; }

Result<rpc::FactsReply> handle_facts(SessionState& state, RequestContext&, const rpc::Facts&) {
  refresh_facts(state.facts, state.access.files);
  return rpc::FactsReply{state.facts};
}

Result<rpc::Empty> handle_close(SessionState& state, RequestContext& context, const rpc::Close&) {
  // Stores the modules before the answer, so that a client that has received it finds the modules in its next session.
  if (const Status stored = store_modules(state); !stored.is_ok()) context.log(stored.message());
  context.end_session();
  return rpc::Empty{};
}

}  // namespace ferry::device
