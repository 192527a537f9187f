// The schemes of addresses that ferry has.
#pragma once

#include "farm/client/farm_connector.h"

namespace ferry::test {

inline const session::Schemes kSchemes = farm::with_farm();

}  // namespace ferry::test
