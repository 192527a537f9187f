#include "device-runtime/handlers/device_texts.h"

#include <algorithm>

namespace ferry::device {

std::vector<std::string> device_texts(Device& device, const FileBroker& broker, std::span<const std::string> paths) {
  constexpr std::string_view kDevice = "gpu:";
  std::vector<std::string> texts = broker.texts(paths);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].starts_with(kDevice)) texts[i] = device.watched_text(paths[i].substr(kDevice.size()));
  }
  return texts;
}

Result<rpc::ReadFilesReply> handle_read_files(SessionState& state, RequestContext&, const rpc::ReadFiles& request) {
  rpc::ReadFilesReply reply;
  // The first device other than the CPU, if the client requested one.
  Device& device = *state.devices[state.devices.size() > 1 ? 1 : 0];
  constexpr std::size_t kAtOnce = 64;
  std::size_t bytes = 0;
  // An answer that exceeds the limit anyway needs no more files.
  for (std::size_t first = 0; first < request.paths.size() && bytes <= rpc::kMaxBodyBytes; first += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, request.paths.size() - first);
    for (std::string& text :
         device_texts(device, state.access.broker, std::span(request.paths).subspan(first, count))) {
      bytes += text.size();
      reply.texts.push_back(std::move(text));
    }
  }
  return reply;
}

}  // namespace ferry::device
