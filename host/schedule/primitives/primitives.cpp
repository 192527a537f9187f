#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

namespace {

constexpr Primitive kPrimitives[] = {
#define FERRY_PRIMITIVE(name, subject, usage) {#name, usage, Subject::subject, &schedule::name},
#include "host/schedule/primitives/primitives.def"
#undef FERRY_PRIMITIVE
};

}  // namespace

std::span<const Primitive> primitives() { return kPrimitives; }

}  // namespace ferry::schedule
