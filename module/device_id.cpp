#include "module/device_id.h"

#include <algorithm>

#include "base/format.h"

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
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::optional<DeviceKind> kind = device_kind_named(name.substr(0, colon));
  if (!kind) {
    return Status(ErrorCode::unsupported, format("expected a device such as cuda or opencl:1, got '%.*s'",
                                                 static_cast<int>(name.size()), name.data()));
  }
  DeviceId device{*kind, 0};
  if (colon == name.size()) return device;
  const std::string_view digits = name.substr(colon + 1);
  bool is_number = !digits.empty() && digits.size() <= kMaxDigits;
  for (const char digit : digits) {
    is_number = is_number && digit >= '0' && digit <= '9';
    device.index = device.index * 10 + static_cast<std::uint32_t>(digit - '0');
  }
  if (is_number) return device;
  return Status(ErrorCode::invalid_argument,
                format("expected the number of a device after '%s:', got '%.*s'", device_kind_name(*kind),
                       static_cast<int>(digits.size()), digits.data()));
}

std::string to_text(const DeviceId& device) {
  const std::string kind = device_kind_name(device.kind);
  return device.index == 0 ? kind : kind + ":" + std::to_string(device.index);
}

}  // namespace ferry
