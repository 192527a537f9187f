// Runs independent parts of some work on this machine's processors.
#pragma once

#include <cstddef>
#include <functional>

namespace ferry {

// Calls action(i) for each i below `count`, on the calling thread and on others: on as many in total as processors may
// run this process. Returns when all calls have ended. If calls throw, the exception of the lowest index is thrown, so
// that the result depends on neither the number of threads nor their timing. The other threads have blocked all
// signals. If the caller's work is cancelled (base/cancellation.h), no further calls begin.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& action);

}  // namespace ferry
