// Reports the notes of a compiler.
#pragma once

#include <string>
#include <vector>

#include "ferry/kernel/observer.h"

namespace ferry {

inline void report_notes(const std::vector<std::string>& notes, const Observer& observer) {
  for (const std::string& note : notes) observer.tell("note: " + note);
}

}  // namespace ferry
