#include "device-runtime/supervisor/device_list.h"

#include <utility>

#include "rpc/messages.h"

namespace ferry::device {

void DeviceList::look(std::vector<ComputeDevice>& devices) {
  if (std::exchange(has_looked_, true) || others_.probe == nullptr) return;
  for (ProbedDevice& probed : others_.probe()) {
    if (probed.why_none.empty()) {
      devices.push_back(std::move(probed.device));
    } else {
      missing_.push_back(std::move(probed));
    }
  }
}

Status DeviceList::check(const std::string& name, const std::vector<ComputeDevice>& devices) const {
  const std::string kind = name.substr(0, name.find(':'));
  if (name == rpc::kAnyDevice) return {};
  for (const ComputeDevice& device : devices) {
    if (device.kind == kind) return {};
  }
  return {ErrorCode::unsupported, "this server has no device '" + name + "'" + why_none(kind)};
}

std::string DeviceList::why_none(const std::string& kind) const {
  if (others_.probe == nullptr) return ": it is linked statically and loads no drivers; the dynamic rpc_server does";
  for (const ProbedDevice& missing : missing_) {
    if (missing.device.kind == kind) return ": " + missing.why_none;
  }
  return "";
}

}  // namespace ferry::device
