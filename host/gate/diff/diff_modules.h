// Says what differs between two modules, for a person who asks why one is slower.
#pragma once

#include <cstdint>
#include <span>

#include "host/compiler/api/compiler.h"
#include "host/gate/api/report.h"
#include "host/gate/diff/diff_text.h"

namespace ferry::gate {

// Takes the bytes of two .ferry files for devices, whose code is linked. Loops are lowered again from the source and
// the schedule in the module, so only kernels in ferry's own notation have them. Assembly is that of the innermost
// loops with most instructions, or all of it where these are equal; for GPUs it is the text that the module carries.
// Networks, whose modules have no source, are compared operator by operator (diff_networks.h). A part that cannot be
// had, as loops of a source that this compiler refuses, is empty, and a note says why. Throws Error if the bytes are no
// modules.
Noted<ModuleDiff> diff_modules(const Compiler& compiler, std::span<const std::uint8_t> baseline,
                               std::span<const std::uint8_t> current);

}  // namespace ferry::gate
