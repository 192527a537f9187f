// Writes and reads what is known of a board's health as a text for the store.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"
#include "farm/core/health/health_judge.h"

namespace ferry::farm {

// Limit of each text of an environment.
inline constexpr std::size_t kMaxEnvironmentText = 1024;

// JSON of at most kMaxTextBytes.
std::string knowledge_text(const HealthKnowledge& knowledge);
// Fails with a device_error that says what was expected.
Result<HealthKnowledge> parse_knowledge(const std::string& text);

}  // namespace ferry::farm
