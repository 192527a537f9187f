// Third step of loading: relocations. Every target must lie inside a writable segment, every symbol inside the image or
// among the imports.
#pragma once

#include "device-runtime/loader/dynamic_table.h"

namespace ferry::device {

Status relocate(ImageMemory& image, const DynamicTable& table);

}  // namespace ferry::device
