// Third step of loading: relocations. Every target must lie inside a writable segment, every symbol inside the image,
// among the imports or, where there is one, among the functions of the library.
#pragma once

#include "device-runtime/loader/dynamic_table.h"

namespace ferry::device {

class ElfImage;

Status relocate(ImageMemory& image, const DynamicTable& table, const ElfImage* library);

}  // namespace ferry::device
