// Texts as the indices that a network has in their place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/media/preprocess.h"

namespace ferry::media {

// Returns the lines of a file, whose last one may end without a newline. Throws UsageError that names the file if it
// is none of texts.
std::vector<std::string> read_texts(std::span<const std::uint8_t> file, const std::string& name);

// Returns for each text its index in `known`, whose last entry stands for all others, in row-major order of the input's
// sizes, of which one may be open. Throws UsageError where they do not fit.
MediaTensor tensor_of(const MediaInput& input, const std::vector<std::string>& texts,
                      const std::vector<std::string>& known);

}  // namespace ferry::media
