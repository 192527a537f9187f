// What root may do beyond its files, taken from sessions that stay root.
#pragma once

namespace ferry::device {

// For this process and its threads, for good. Files, locked memory and counters stay. A process with fewer capabilities
// than another cannot look into it either, whoever both belong to. False when the system does not allow it.
bool drop_capabilities();

}  // namespace ferry::device
