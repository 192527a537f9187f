#include "host/text/progress.h"

#include <unistd.h>

#include <cstdio>

namespace ferry::text {

void Progress::show(const std::string& what) {
  if (isatty(STDERR_FILENO) == 1) fprintf(stderr, "\r\033[K%s ...", what.c_str());
}

void Progress::clear() {
  if (isatty(STDERR_FILENO) == 1) fputs("\r\033[K", stderr);
}

}  // namespace ferry::text
