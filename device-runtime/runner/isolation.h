// What a session needs in order to run kernels in other processes.
#pragma once

#include <cstdint>

#include "base/descriptor.h"
#include "device-runtime/runner/zygote.h"

namespace ferry::device {

struct Isolation {
  Zygote zygote = Zygote();
  Descriptor object = Descriptor();  // the memory that it shares with them (shared_memory.h)
  std::uint64_t bytes = 0;           // the size of that
  const char* missing = "";          // why there is no zygote
};

}  // namespace ferry::device
