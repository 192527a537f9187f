// The devices of this server other than the CPU. They are detected when a client first requests one, or at start if the
// server accepts many clients.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "device-runtime/device/drivers.h"
#include "module/device_facts.h"

namespace ferry::device {

class DeviceList {
 public:
  explicit DeviceList(const OtherDevices& others) : others_(others) {}

  // Loads the drivers on the first call and adds the devices that they report.
  void look(std::vector<ComputeDevice>& devices);
  // Fails with unsupported, with the reason if it is known, if a name such as "opencl" or "cuda:1" matches no device of
  // this server.
  Status check(const std::string& name, const std::vector<ComputeDevice>& devices) const;

 private:
  std::string why_none(const std::string& kind) const;

  const OtherDevices& others_;
  bool has_looked_ = false;
  std::vector<ProbedDevice> missing_;
};

}  // namespace ferry::device
