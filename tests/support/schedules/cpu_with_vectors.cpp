#include "tests/support/schedules/cpu_with_vectors.h"

namespace ferry::test {

Target cpu_with_vectors(std::uint32_t vector_bits) {
  Target target;
  target.set_arch("x86_64");
  target.capabilities = capabilities_of(target);
  target.vector_bits = vector_bits;
  target.vector_registers = vector_bits == 512 ? 32 : 16;
  target.capabilities.masks = vector_bits == 512;
  return target;
}

}  // namespace ferry::test
