#include "host/kernel/device_survey.h"

#include <map>

#include "base/printable.h"
#include "module/device_id.h"
#include "rpc/messages.h"

namespace ferry {

namespace {

// A server that was started for this session alone enumerates devices only if one is requested.
Device open_with_all_devices(const OpenSession& open) {
  ConnectOptions options;
  options.devices = {rpc::kAnyDevice};
  try {
    return open(options);
  } catch (const Error& error) {
    // An older server takes it for the name of a device.
    if (error.code() != ErrorCode::unsupported) throw;
    return open({});
  }
}

std::optional<GpuFacts> facts_of(const DeviceId& id, const std::string& name, const OpenSession& open,
                                 const Observer& observer) {
  ConnectOptions options;
  options.devices = {to_text(id)};
  try {
    return gpu_facts(open(options));
  } catch (const Error& error) {
    observer.tell(name + ": " + printable_lines(error.what()));
    return std::nullopt;
  }
}

}  // namespace

DeviceSurvey survey_device(const OpenSession& open, const Observer& observer) {
  DeviceSurvey survey;
  {
    const Device device = open_with_all_devices(open);
    survey.name = device.name();
    survey.facts = device.facts();
  }
  std::map<DeviceKind, std::uint32_t> count;
  for (const ComputeDevice& one : survey.facts.devices) {
    const std::optional<DeviceKind> kind = device_kind_named(one.kind);
    const bool is_gpu = kind && *kind != DeviceKind::cpu;
    survey.gpus.push_back(is_gpu ? facts_of({*kind, count[*kind]++}, one.name, open, observer) : std::nullopt);
  }
  return survey;
}

}  // namespace ferry
