#include "device-runtime/handlers/device_texts.h"

#include "device-runtime/facts/watched_files.h"

namespace ferry::device {

std::string device_text(Device& device, const std::string& path) {
  constexpr const char* kDevice = "gpu:";
  const std::size_t length = std::char_traits<char>::length(kDevice);
  return path.compare(0, length, kDevice) == 0 ? device.watched_text(path.substr(length)) : watched_text(path);
}

}  // namespace ferry::device
