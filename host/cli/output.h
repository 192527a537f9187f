// Standard output, which may be a full disk.
#pragma once

namespace ferry::cli {

// Whether all that was printed has got out. Whoever reads a pipe may stop when it has seen enough: that is fine.
bool output_is_written();

}  // namespace ferry::cli
