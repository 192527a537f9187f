#include "crosscompile/target/init_target.h"

#include "crosscompile/target/resolve.h"

namespace ferry {

Target init_target() {
  Target target = resolve_target("llvm -mtriple=" + resolve_target("host").triple);
  // Architectures whose baseline has fused multiply-adds compute as the others do.
  target.capabilities.fma = false;
  return target;
}

}  // namespace ferry
