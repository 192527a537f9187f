// Chooses the cores of a device on which threads may run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ferry/bench/sampling.h"
#include "ferry/client.h"

namespace ferry::bench {

// Returns the numbers of the strongest or the weakest cores: by the Linux kernel's capacity of each core (ARM),
// otherwise by its highest frequency. Empty for any. Throws OptionError if all cores of the device are alike.
std::vector<std::uint32_t> cores_of_kind(const Device& device, CoreKind kind);

// The same from the texts of each core's cpu_capacity, which are followed by those of its highest frequency.
std::vector<std::uint32_t> cores_by_strength(const std::vector<std::string>& texts, CoreKind kind);

// Sets where threads may run from what a user wrote: "any", "big", "little", or numbers such as "0,2-3". Throws
// OptionError (cores).
void set_cores(const std::string& text, SamplingOptions& options);

}  // namespace ferry::bench
