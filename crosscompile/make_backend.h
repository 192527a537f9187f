// The one place that knows all backends.
#pragma once

#include "crosscompile/backend/backend.h"

#include <memory>

namespace ferry {

std::unique_ptr<Backend> make_backend(const Target& target);

}  // namespace ferry
