#include "device-runtime/supervisor/device_list.h"

#include <utility>

#include "module/device_id.h"
#include "rpc/messages.h"

namespace ferry::device {

void DeviceList::detect(std::vector<ComputeDevice>& devices) {
  if (std::exchange(has_detected_, true) || others_.probe == nullptr) return;
  for (ProbedDevice& probed : others_.probe()) {
    if (probed.why_none.empty()) {
      devices.push_back(std::move(probed.device));
    } else {
      missing_.push_back(std::move(probed));
    }
  }
}

Status DeviceList::check(const std::string& name, std::vector<ComputeDevice>& devices) {
  const Result<DeviceId> id = parse_device_id(name);
  if (id.is_ok() && id.value() == DeviceId{}) return {};
  detect(devices);
  if (name == rpc::kAnyDevice) return {};
  const char* kind = "";
  if (id.is_ok()) {
    kind = device_kind_name(id.value().kind);
  } else if (Status refusal = id.status(); refusal.code() == ErrorCode::invalid_argument) {
    return refusal;
  }
  for (const ComputeDevice& device : devices) {
    if (device.kind == kind) return {};
  }
  return {ErrorCode::unsupported, "this server has no device '" + name + "'" + why_none(kind)};
}

std::string DeviceList::why_none(std::string_view kind) const {
  if (others_.probe == nullptr) return ": it is linked statically and loads no drivers; the dynamic rpc_server does";
  for (const ProbedDevice& missing : missing_) {
    if (missing.device.kind == kind) return ": " + missing.why_none;
  }
  return "";
}

}  // namespace ferry::device
