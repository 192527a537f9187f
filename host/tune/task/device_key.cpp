#include "host/tune/task/device_key.h"

namespace ferry::tune {

DeviceKey device_key(const Target& target, std::uint32_t threads) {
  if (!target.is_for_cpu())
    return {.arch = target.gpus.empty() ? target.arch_name : target.gpus.front(), .cpu = {}, .features = {}};
  return {target.arch_name, target.cpu, target.features, threads != 0 ? threads : target.threads};
}

}  // namespace ferry::tune
