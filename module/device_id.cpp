#include "module/device_id.h"

#include <charconv>

namespace ferry {
namespace {

constexpr DeviceKind kKinds[] = {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::opencl};
constexpr std::size_t kMaxDigits = 3;

}  // namespace

const char* device_kind_name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu: return "cpu";
    case DeviceKind::cuda: return "cuda";
    case DeviceKind::opencl: return "opencl";
  }
  return "";
}

std::optional<DeviceKind> device_kind_named(std::string_view name) {
  for (const DeviceKind kind : kKinds) {
    if (name == device_kind_name(kind)) return kind;
  }
  return std::nullopt;
}

Result<DeviceId> parse_device_id(std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::string_view kind_name = name.substr(0, colon);
  const std::optional<DeviceKind> kind = device_kind_named(kind_name);
  if (!kind) {
    return Status(ErrorCode::unsupported,
                  "expected a device such as cuda or opencl:1, got '" + std::string(name) + "'");
  }
  DeviceId device{*kind, 0};
  if (colon == std::string_view::npos) return device;
  const std::string_view digits = name.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), device.index);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.size() > kMaxDigits) {
    return Status(ErrorCode::invalid_argument, "expected the number of a device after '" + std::string(kind_name) +
                                                   ":', got '" + std::string(digits) + "'");
  }
  return device;
}

std::string to_text(const DeviceId& device) {
  const std::string kind = device_kind_name(device.kind);
  return device.index == 0 ? kind : kind + ":" + std::to_string(device.index);
}

}  // namespace ferry
