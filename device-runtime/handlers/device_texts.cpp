#include "device-runtime/handlers/device_texts.h"

namespace ferry::device {

std::vector<std::string> device_texts(Device& device, const FileBroker& broker, std::span<const std::string> paths) {
  constexpr const char* kDevice = "gpu:";
  const std::size_t length = std::char_traits<char>::length(kDevice);
  std::vector<std::string> texts = broker.texts(paths);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].compare(0, length, kDevice) == 0) texts[i] = device.watched_text(paths[i].substr(length));
  }
  return texts;
}

}  // namespace ferry::device
