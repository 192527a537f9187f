#include "device-runtime/device/cpu_program.h"

#include <algorithm>
#include <vector>

#include "device-runtime/device/cpu_stream.h"
#include "device-runtime/loader/elf_image.h"
#include "device-runtime/loader/loaded_code.h"

namespace ferry::device {
namespace {

class CpuProgram final : public Program {
 public:
  CpuProgram(std::unique_ptr<ElfImage> library, ElfImage image, std::vector<std::unique_ptr<LoadedCode>> code,
             CpuKernels kernels, Device& device, MemoryBudget& budget, ThreadPool& pool, PrintBuffer& printed)
      : library_(std::move(library)),
        image_(std::move(image)),
        code_(std::move(code)),
        kernels_(std::move(kernels)),
        device_(device),
        budget_(budget),
        pool_(pool),
        printed_(printed) {}
  CpuProgram(const CpuProgram&) = delete;
  CpuProgram& operator=(const CpuProgram&) = delete;
  ~CpuProgram() override {
    budget_.give_back(image_.memory_bytes() + (library_ != nullptr ? library_->memory_bytes() : 0));
  }

  Result<std::unique_ptr<Stream>> open_stream(const FunctionInfo&) override {
    return std::unique_ptr<Stream>(
        std::make_unique<CpuStream>(kernels_, device_, make_kernel_context(pool_, printed_)));
  }

 private:
  std::unique_ptr<ElfImage> library_;  // null: the module has none
  ElfImage image_;
  std::vector<std::unique_ptr<LoadedCode>> code_;
  CpuKernels kernels_;
  Device& device_;
  MemoryBudget& budget_;
  ThreadPool& pool_;
  PrintBuffer& printed_;
};

void add_symbols(const Plan& plan, CpuKernels& kernels) {
  for (const Step& step : plan.steps) {
    if (const auto* call = std::get_if<CallStep>(&step)) kernels.push_back({call->symbol, nullptr});
  }
}

// Finds the code of every call.
Result<CpuKernels> resolve(const Manifest& manifest, const ElfImage& image) {
  CpuKernels kernels;
  for (const FunctionInfo& function : manifest.functions) {
    add_symbols(function.plan, kernels);
    add_symbols(function.init, kernels);
  }
  std::sort(kernels.begin(), kernels.end(), [](const CpuKernel& a, const CpuKernel& b) { return a.symbol < b.symbol; });
  kernels.erase(std::unique(kernels.begin(), kernels.end(),
                            [](const CpuKernel& a, const CpuKernel& b) { return a.symbol == b.symbol; }),
                kernels.end());
  for (CpuKernel& kernel : kernels) {
    FERRY_ASSIGN(void* address, image.function(kernel.symbol));
    kernel.kernel = reinterpret_cast<ferry_kernel>(address);
  }
  return kernels;
}

}  // namespace

Result<std::unique_ptr<Program>> load_cpu_program(const ModuleFile& module, const Hash& hash, Device& device,
                                                  MemoryBudget& budget, ThreadPool& pool, PrintBuffer& printed) {
  const auto find = [&module](ImageKind kind) {
    return std::find_if(module.images.begin(), module.images.end(),
                        [kind](const CodeImage& image) { return image.kind == kind; });
  };
  if (find(ImageKind::elf_objects) != module.images.end())
    return Status(ErrorCode::unsupported, "the module's code is not linked (an image of the kind '" +
                                              std::string(image_kind_name(ImageKind::elf_objects)) +
                                              "'): only compilers load it, which link it for devices");
  const auto code = find(ImageKind::elf);
  if (code == module.images.end()) {
    return Status(ErrorCode::unsupported, "the module has no code for a CPU (expected an image of kind 'elf')");
  }
  std::unique_ptr<ElfImage> library;
  const auto bytes = find(ImageKind::elf_library);
  if (bytes != module.images.end()) {
    FERRY_ASSIGN(ElfImage loaded, ElfImage::load(bytes->bytes));
    library = std::make_unique<ElfImage>(std::move(loaded));
  }
  FERRY_ASSIGN(ElfImage image, ElfImage::load(code->bytes, library.get()));
  FERRY_ASSIGN(CpuKernels kernels, resolve(module.manifest, image));
  FERRY_TRY(budget.take(image.memory_bytes() + (library != nullptr ? library->memory_bytes() : 0)));
  std::vector<std::unique_ptr<LoadedCode>> loaded;
  loaded.push_back(std::make_unique<LoadedCode>(hash, code->bytes, image.base(), image.memory_bytes()));
  if (library != nullptr) {
    loaded.push_back(
        std::make_unique<LoadedCode>(blake2b(bytes->bytes), bytes->bytes, library->base(), library->memory_bytes()));
  }
  return std::unique_ptr<Program>(std::make_unique<CpuProgram>(std::move(library), std::move(image), std::move(loaded),
                                                               std::move(kernels), device, budget, pool, printed));
}

}  // namespace ferry::device
