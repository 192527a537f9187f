// The devices of this server other than the CPU. They are detected when a client first requests one, or at start if the
// server accepts many clients.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "device-runtime/device/drivers.h"
#include "ferry/device_facts.h"

namespace ferry::device {

class DeviceList {
 public:
  explicit DeviceList(const OtherDevices& others) : others_(others) {}

  // Loads the drivers on the first call and adds the devices that they report.
  void detect(std::vector<ComputeDevice>& devices);
  // Checks a name that a client asks for, and looks if it is not the CPU's. Fails with unsupported, with the reason if
  // it is known, if this server has no device of that kind, and with invalid_argument if the index is no number.
  Status check(const std::string& name, std::vector<ComputeDevice>& devices);

 private:
  std::string why_none(std::string_view kind) const;

  const OtherDevices& others_;
  bool has_detected_ = false;
  std::vector<ProbedDevice> missing_;
};

}  // namespace ferry::device
