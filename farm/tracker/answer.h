// How what somebody has asked of the farm is answered: then(answer) is called once, on the loop, maybe before the
// function that was asked returns.
#pragma once

#include <functional>

#include "base/status.h"

namespace ferry::farm {

template <class Reply>
using Answer = std::function<void(Result<Reply>)>;

}  // namespace ferry::farm
