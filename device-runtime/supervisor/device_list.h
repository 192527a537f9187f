// The devices beside the CPU that this server has, looked for when a client first asks for one or the server is for
// many.
#pragma once

#include <string>
#include <vector>

#include "device-runtime/device/drivers.h"
#include "rpc/abi/device_facts.h"
#include "rpc/base/status.h"

namespace ferry::device {

class DeviceList {
 public:
  explicit DeviceList(const OtherDevices& others) : others_(others) {}

  // Loads drivers, once, and adds what they find to the devices.
  void look(std::vector<ComputeDevice>& devices);
  // unsupported, with the reason where one is known, when a name such as "opencl" or "cuda:1" is of no device here.
  Status check(const std::string& name, const std::vector<ComputeDevice>& devices) const;

 private:
  std::string why_none(const std::string& kind) const;

  const OtherDevices& others_;
  bool has_looked_ = false;
  std::vector<ProbedDevice> missing_;
};

}  // namespace ferry::device
