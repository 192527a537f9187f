// Runs lld in this process.
#pragma once

#include <vector>

namespace ferry::link {

// Takes the words of a command line of ld.lld. Throws InternalError with lld's own message. Safe to call from several
// threads (one links at a time).
void run_lld(const std::vector<const char*>& arguments);

}  // namespace ferry::link
