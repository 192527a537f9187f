// One line on a terminal that says what is going on, gone when it is over. Nothing at all when stderr is no terminal.
#pragma once

#include <string>

namespace ferry::cli {

class Progress {
 public:
  static void show(const std::string& what);
  static void clear();

  // For as long as this object lives.
  explicit Progress(const std::string& what) { show(what); }
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
};

}  // namespace ferry::cli
