// Inputs that a user names by pictures, sound and archives of arrays.
#pragma once

#include <string>

#include "ferry/kernel/call_options.h"
#include "ferry/kernel/observer.h"
#include "host/kernel/kernel.h"

namespace ferry::media {

// Replaces the arguments of the call that name such files, "x=@cat.jpg", or a folder of pictures, by what they contain
// (CallOptions::given), made to fit the function's input. `preprocess` is as of parse_preprocess(). The observer is
// told what was done. Throws UsageError for a file that cannot be read, or does not fit.
void read_media(const KernelSource& source, const std::string& function, const std::string& preprocess,
                CallOptions& call, const Observer& observer);

}  // namespace ferry::media
