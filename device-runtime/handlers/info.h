// Requests about the session itself.
#pragma once

#include "device-runtime/handlers/session_state.h"

namespace ferry::device {

Result<rpc::HelloReply> handle_hello(SessionState& state, Exchange& exchange, const rpc::Hello& request);
Result<rpc::OpenReply> handle_open(SessionState& state, Exchange& exchange, const rpc::Open& request);
Result<rpc::Empty> handle_ping(SessionState& state, Exchange& exchange, const rpc::Ping& request);
Result<rpc::FactsReply> handle_facts(SessionState& state, Exchange& exchange, const rpc::Facts& request);
Result<rpc::ReadFilesReply> handle_read_files(SessionState& state, Exchange& exchange, const rpc::ReadFiles& request);
Result<rpc::Empty> handle_close(SessionState& state, Exchange& exchange, const rpc::Close& request);

// Returns the newest version that both sides support; version_mismatch names both ranges if there is none.
Result<std::uint32_t> negotiate_version(std::uint32_t version_min, std::uint32_t version_max);

}  // namespace ferry::device
