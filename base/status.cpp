#include "base/status.h"

namespace ferry {

const char* error_name(ErrorCode code) {
  switch (code) {
#define FERRY_NAME(value, name) \
  case ErrorCode::name: return #name;
    FERRY_ERROR_CODES(FERRY_NAME)
#undef FERRY_NAME
  }
  return "unknown";
}

}  // namespace ferry
