#include "device-runtime/device/cpu_program.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "device-runtime/loader/elf_image.h"
#include "device-runtime/loader/loaded_code.h"

namespace ferry::device {
namespace {

// The workspaces of two threads never share a cache line, nor the pair of lines that some processors fetch together.
constexpr std::uint64_t kWorkspaceAlignment = 128;

// A block of the device's memory that releases itself.
class Block {
 public:
  Block(Device& device, void* memory, std::uint64_t bytes) : device_(device), memory_(memory), bytes_(bytes) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { device_.release(memory_, bytes_); }
  std::uint8_t* address() const { return device_.host_address(memory_); }

 private:
  Device& device_;
  void* memory_;
  std::uint64_t bytes_;
};

Result<std::unique_ptr<Block>> take_block(Device& device, std::uint64_t bytes) {
  FERRY_ASSIGN(void* memory, device.allocate(bytes));
  return std::make_unique<Block>(device, memory, bytes);
}

class CpuCall final : public Workload {
 public:
  CpuCall(ferry_kernel kernel, const KernelContext& context) : kernel_(kernel), context_(context) {}

  void set_arguments(std::span<const DeviceArgument> arguments, std::span<const std::int64_t> symbols) {
    pointers_.reserve(arguments.size() + symbols.size());
    scalars_.reserve(arguments.size());  // pointers into this vector are handed out
    symbols_.assign(symbols.begin(), symbols.end());
    for (const DeviceArgument& argument : arguments) {
      if (argument.is_scalar) scalars_.push_back(argument.scalar_bits);
      pointers_.push_back(argument.is_scalar ? static_cast<void*>(&scalars_.back()) : argument.memory);
    }
    for (std::int64_t& symbol : symbols_) pointers_.push_back(&symbol);
  }

  Status take_workspaces(Device& device, std::uint64_t call_bytes, std::uint64_t thread_bytes) {
    if (call_bytes != 0) {
      FERRY_ASSIGN(call_workspace_, take_block(device, call_bytes));
      context_.call_workspace = call_workspace_->address();
    }
    if (thread_bytes == 0) return {};
    const std::uint64_t threads = context_.pool->threads();
    if (thread_bytes > (UINT64_MAX - kWorkspaceAlignment) / threads - kWorkspaceAlignment) {
      return {ErrorCode::resource_exhausted, "the threads' workspaces are larger than any memory"};
    }
    const std::uint64_t stride = (thread_bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
    FERRY_ASSIGN(thread_workspaces_, take_block(device, stride * threads));
    context_.thread_workspaces = thread_workspaces_->address();
    context_.thread_workspace_stride = stride;
    return {};
  }

  std::int32_t run() override { return kernel_(pointers_.data(), &context_.api); }

 private:
  ferry_kernel kernel_;
  KernelContext context_;
  std::vector<void*> pointers_;
  std::vector<std::uint64_t> scalars_;
  std::vector<std::int64_t> symbols_;
  std::unique_ptr<Block> call_workspace_;
  std::unique_ptr<Block> thread_workspaces_;
};

class CpuProgram final : public Program {
 public:
  CpuProgram(std::unique_ptr<ElfImage> library, ElfImage image, std::vector<std::unique_ptr<LoadedCode>> code,
             std::vector<ferry_kernel> kernels, Device& device, MemoryBudget& budget, ThreadPool& pool,
             PrintBuffer& printed)
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

  Result<std::unique_ptr<Workload>> prepare(std::size_t function, std::span<const DeviceArgument> arguments,
                                            const BoundCall& bound) override {
    auto call = std::make_unique<CpuCall>(kernels_[function], make_kernel_context(pool_, printed_));
    call->set_arguments(arguments, bound.symbols);
    FERRY_TRY(call->take_workspaces(device_, bound.call_workspace, bound.thread_workspace));
    return std::unique_ptr<Workload>(std::move(call));
  }

 private:
  std::unique_ptr<ElfImage> library_;  // null: the module has none
  ElfImage image_;
  std::vector<std::unique_ptr<LoadedCode>> code_;
  std::vector<ferry_kernel> kernels_;  // one per function of the manifest
  Device& device_;
  MemoryBudget& budget_;
  ThreadPool& pool_;
  PrintBuffer& printed_;
};

}  // namespace

Result<std::unique_ptr<Program>> load_cpu_program(const ModuleFile& module, const Hash& hash, Device& device,
                                                  MemoryBudget& budget, ThreadPool& pool, PrintBuffer& printed) {
  const auto find = [&module](std::string_view kind) {
    return std::find_if(module.images.begin(), module.images.end(),
                        [kind](const CodeImage& image) { return image.kind == kind; });
  };
  const auto code = find("elf");
  if (code == module.images.end()) {
    return Status(ErrorCode::unsupported, "the module has no code for a CPU (expected an image of kind 'elf')");
  }
  std::unique_ptr<ElfImage> library;
  const auto bytes = find("elf_library");
  if (bytes != module.images.end()) {
    FERRY_ASSIGN(ElfImage loaded, ElfImage::load(bytes->bytes));
    library = std::make_unique<ElfImage>(std::move(loaded));
  }
  FERRY_ASSIGN(ElfImage image, ElfImage::load(code->bytes, library.get()));
  std::vector<ferry_kernel> kernels;
  for (const FunctionInfo& function : module.manifest.functions) {
    FERRY_ASSIGN(void* address, image.function(function.symbol));
    kernels.push_back(reinterpret_cast<ferry_kernel>(address));
  }
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
