// Describes a server: the machine, and each of the devices that it runs kernels on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ferry/gpu_facts.h"
#include "host/kernel/retry.h"

namespace ferry {

struct DeviceSurvey {
  std::string name;  // the server's: "127.0.0.1:9090", or "this machine"
  DeviceFacts facts;
  std::vector<std::optional<GpuFacts>> gpus;  // one for each of facts.devices; none for the CPU and what does not open
};

// Opens a session for the facts and, after it, one for each GPU, since a server may serve only one at a time. The
// observer is told why a GPU does not open. Throws Error if the server does not answer.
DeviceSurvey survey_device(const OpenSession& open, const Observer& observer = {});

}  // namespace ferry
