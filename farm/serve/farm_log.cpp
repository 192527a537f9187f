#include "farm/serve/farm_log.h"

#include <time.h>

#include <cstdio>

#include "base/printable.h"

namespace ferry::farm {

void log_line(const std::string& line) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char time[32];
  strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &parts);
  fprintf(stderr, "%s.%03ldZ %s\n", time, now.tv_nsec / 1'000'000, printable(line).c_str());
}

}  // namespace ferry::farm
