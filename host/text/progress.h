// A progress line on a terminal, which is erased at the end. There is none if stderr is not a terminal.
#pragma once

#include <string>

namespace ferry::text {

class Progress {
 public:
  static void show(const std::string& what);
  static void clear();

  // Shows the line for the lifetime of this object.
  explicit Progress(const std::string& what) { show(what); }
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
};

}  // namespace ferry::text
