// Checks writes to standard output, which may be a file on a full disk.
#pragma once

namespace ferry::text {

// Whether everything printed was written. The reader of a pipe may close it early: this is no error.
bool output_is_written();

}  // namespace ferry::text
