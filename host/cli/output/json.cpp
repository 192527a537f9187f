#include "host/cli/output/json.h"

#include <cstdio>

namespace ferry::cli {

void print_json(const Json& json) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  printf("%s\n", text.c_str());
}

}  // namespace ferry::cli
