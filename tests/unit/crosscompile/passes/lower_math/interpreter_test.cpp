// Tests that the interpreter runs the expansions like machine code, operation by operation.
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "tests/unit/crosscompile/passes/lower_math/native_math.h"
#include "tests/unit/crosscompile/passes/lower_math/reference.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <random>

using namespace ferry;
using namespace ferry::math_test;

TEST_CASE("the interpreter gives every bit of what machine code gives for an expanded function") {
  const auto inputs = std::make_unique<Batch[]>(2), outputs = std::make_unique<Batch[]>(2);
  std::mt19937 random(3);
  for (std::size_t i = 0; i < static_cast<std::size_t>(kBatch); ++i) {
    for (std::size_t k = 0; k < 2; ++k) {
      const float any = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      const float near =
          std::ldexp(any, static_cast<int>(random() % 12) - 6 - (std::isnormal(any) ? std::ilogb(any) : 0));
      inputs[k].values[i] = i % 2 == 0 ? any : near;
    }
  }
  for (const std::string& target : native_targets()) {
    for (const Reference& reference : references()) {
      const std::size_t arguments = reference.of_one != nullptr ? 1 : 2;
      const Target resolved = resolve_target(target);
      NativeMath(reference.name, arguments, resolved, 16).run(inputs[0], inputs[1], outputs[0]);
      const ir::Function expanded = passes::run_pipeline(batch_function(reference.name, arguments, 16), resolved);
      std::vector<void*> pointers{&inputs[0], &inputs[1]};
      pointers.resize(arguments);
      pointers.push_back(&outputs[1]);
      CHECK(ir::interpret(expanded, pointers.data()) == 0);
      std::size_t different = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(kBatch); ++i) {
        const float machine = outputs[0].values[i], interpreted = outputs[1].values[i];
        if (std::isnan(machine) && std::isnan(interpreted)) continue;
        if (std::bit_cast<std::uint32_t>(machine) == std::bit_cast<std::uint32_t>(interpreted)) continue;
        if (++different > 1) continue;
        FAIL_CHECK(reference.name, " for ", target, " of ", inputs[0].values[i], ", ", inputs[1].values[i],
                   ": the interpreter gives ", interpreted, ", the machine ", machine);
      }
      CHECK_MESSAGE(different == 0, reference.name, " for ", target);
    }
  }
}
