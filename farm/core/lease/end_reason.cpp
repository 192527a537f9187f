#include "farm/core/lease/end_reason.h"

namespace ferry::farm {

const char* end_reason_name(EndReason reason) {
  switch (reason) {
#define FERRY_NAME(value, name, failure_class) \
  case EndReason::name: return #name;
    FERRY_END_REASONS(FERRY_NAME)
#undef FERRY_NAME
  }
  return "unknown";
}

FailureClass class_of(EndReason reason) {
  switch (reason) {
#define FERRY_CLASS(value, name, failure_class) \
  case EndReason::name: return FailureClass::failure_class;
    FERRY_END_REASONS(FERRY_CLASS)
#undef FERRY_CLASS
  }
  return FailureClass::infrastructure;
}

const char* failure_class_name(FailureClass failure_class) {
  switch (failure_class) {
    case FailureClass::infrastructure: return "infrastructure";
    case FailureClass::user: return "user";
    case FailureClass::timeout: return "timeout";
    case FailureClass::thermal: return "thermal";
  }
  return "unknown";
}

}  // namespace ferry::farm
