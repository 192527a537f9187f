// The compiler of this program, made of crosscompile/, host/lower and host/autoschedule.
#pragma once

#include <memory>

#include "host/compiler/api/compiler.h"

namespace ferry {

std::unique_ptr<const Compiler> make_compiler();

}  // namespace ferry
