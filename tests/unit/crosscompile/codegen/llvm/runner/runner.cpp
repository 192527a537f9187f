// Runs compiled kernels on the architecture it is built for, natively or under an emulator: loads one linked image like
// a device would, calls its functions on data from a file and writes back the resulting data. One process makes many
// calls, because an emulator is slow to start.
//
//   runner IMAGE CASES RESULTS          (formats as in runner_files.h)
#include "device-runtime/loader/elf_image.h"
#include "tests/unit/crosscompile/codegen/llvm/runner/run_calls.h"

int main(int count, char** words) {
  using ferry::runner::die;
  if (count != 4) die("expected IMAGE CASES RESULTS");
  std::vector<unsigned char> file;
  if (!ferry::runner::read_whole(words[1], file)) die(std::string("cannot read ") + words[1]);
  const auto image = ferry::device::ElfImage::load(file);
  if (!image.is_ok()) die(image.status().message());
  return ferry::runner::run_all(words[2], words[3], [&](const std::string& symbol) {
    const auto function = image.value().function(symbol);
    if (!function.is_ok()) die(function.status().message());
    return reinterpret_cast<ferry_kernel>(function.value());
  });
}
