// Runs ferry on a terminal of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"

namespace ferry::test {

// Runs ferry with standard input, output and error on a new terminal with so many columns. `out` has everything that
// it shows, with line feeds alone at the ends of lines; `err` is empty. `typed` is typed at once.
Outcome run_on_terminal(const std::vector<std::string>& words, unsigned short columns = 80,
                        const std::map<std::string, std::string>& environment = {}, const std::string& typed = "");

}  // namespace ferry::test
