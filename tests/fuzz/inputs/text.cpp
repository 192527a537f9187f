#include <string_view>

#include "crosscompile/ir/error.h"
#include "farm/client/farm_connector.h"
#include "farm/config/farm_config.h"
#include "ferry/error.h"
#include "ferry/lang/text.h"
#include "host/client/npy/npy.h"
#include "host/gate/suite/read_suite.h"
#include "tests/fuzz/inputs/targets.h"

namespace ferry::fuzz {

void fuzz_npy(Input input) {
  try {
    const npy::Array array = npy::parse(input, "fuzz.npy");
    const auto bytes = npy::format(array.dtype, array.shape, array.bytes);
    if (npy::parse(bytes, "again.npy").bytes != array.bytes) __builtin_trap();
  } catch (const UsageError&) {
  }
}

void fuzz_tc(Input input) {
  try {
    (void)lang::parse({reinterpret_cast<const char*>(input.data()), input.size()}, "fuzz.tc");
  } catch (const CompileError&) {
  }
}

void fuzz_toml(Input input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  (void)farm::parse_farm_config(text, "farm.toml");
  static const session::Schemes kSchemes = farm::with_farm();
  try {
    if (gate::parse_suite(text, "suite.toml", kSchemes).cases.empty()) __builtin_trap();
  } catch (const UsageError&) {
  }
}

}  // namespace ferry::fuzz
