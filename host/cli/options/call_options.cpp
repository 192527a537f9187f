#include "host/cli/options/call_options.h"

#include <random>

#include "host/cli/options/option_checks.h"
#include "host/compiler/api/compiler.h"
#include "host/kernel/file.h"

namespace ferry::cli {

CLI::Option& add_call_options(CLI::App& command, CallOptions& options, DefaultSeed seed) {
  command
      .add_option(
          "--arg", options.arguments,
          "An input: NAME=DTYPE[SIZES] (seeded random), with :zeros, :ones, :iota, :below(N) (whole numbers,\n"
          "N a number or a size), :uniform(A,B), :full, :normal or :normal(MEAN,DEVIATION) after it; NAME=:ones;\n"
          "NAME=@FILE, of NumPy, a picture, sound or a folder of pictures; NAME=NUMBER. Those not given are random and "
          "as large as the sizes say")
      ->type_name("NAME=VALUE")
      ->type_size(1)
      ->allow_extra_args(false);
  command.add_option("--size", options.sizes, "Sizes by name: M=512,N=512")
      ->type_name("NAME=SIZE")
      ->type_size(1)
      ->allow_extra_args(false);
  CLI::Option& option = *command.add_option("--seed", options.seed, "Seed of the random inputs")
                             ->type_name("N")
                             ->check(whole_number(0, ~std::uint64_t{0}))
                             ->capture_default_str();
  if (seed == DefaultSeed::drawn) options.seed = random_seed();
  option.default_str(seed == DefaultSeed::drawn ? "drawn, and printed"
                                                : "0; drawn to check what ferry did not compile");
  return option;
}

void draw_seed(const CLI::Option& seed, const std::string& kernel_file, CallOptions& options) {
  const bool is_ours = !is_foreign(kernel_file) && !is_module_file(kernel_file);
  if (seed.empty() && !is_ours) options.seed = random_seed();
}

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32 | device()) >> 16;
}

}  // namespace ferry::cli
