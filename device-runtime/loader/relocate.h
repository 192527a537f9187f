// Third step of loading: relocations. Every target must lie inside a writable segment. Every symbol must be defined in
// the image, in the imports or, if there is one, in the library.
#pragma once

#include "device-runtime/loader/dynamic_table.h"

namespace ferry::device {

class ElfImage;

Status relocate(ImageMemory& image, const DynamicTable& table, const ElfImage* library);

}  // namespace ferry::device
