// Scripts that complete ferry's command line in a shell.
#pragma once

#include <string>

#include "host/cli/completion/shape.h"

namespace ferry::cli {

std::string bash_completion(const AppShape& app);
std::string zsh_completion(const AppShape& app);
std::string fish_completion(const AppShape& app);

}  // namespace ferry::cli
