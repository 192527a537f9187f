// The state of a session's machine and device at one moment: small files and values that a GPU's driver reports.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device-runtime/broker/file_broker.h"
#include "device-runtime/device/device.h"
#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

// Returns the texts for paths as PROTOCOL.md defines them for evaluate; a "gpu:" path queries the device. Empty where
// there is none.
std::vector<std::string> device_texts(Device& device, const FileBroker& broker, std::span<const std::string> paths);
Result<rpc::ReadFilesReply> handle_read_files(SessionState& state, RequestContext& context,
                                              const rpc::ReadFiles& request);

}  // namespace ferry::device
