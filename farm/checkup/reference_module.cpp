#include "farm/checkup/reference_module.h"

#include <algorithm>
#include <bit>

#include "base/format.h"
#include "ferry/lang/text.h"

namespace ferry::farm {
namespace {

constexpr const char* kReferenceText = R"(def compute(float32(N,N) A, float32(N,N) B) -> (C) {
  C(i,j) +=! A(i,k) * B(k,j)
}
def memory(float32(L) A) -> (B) {
  B(i) = 2.0 * A(i)
}
def ping(float32(P) A) -> (B) {
  B(i) = A(i)
}
)";

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

std::string key_of(const Target& target, const ReferenceSizes& sizes) {
  std::string key = target.text + '\n' + target.cpu + '\n' + std::to_string(target.threads) + '\n' +
                    std::to_string(target.l1_bytes) + '\n' + std::to_string(target.l2_bytes) + '\n' +
                    std::to_string(sizes.compute) + '\n' + std::to_string(sizes.memory) + '\n' +
                    std::to_string(sizes.ping);
  for (const std::string& feature : target.features) key += '\n' + feature;
  return key;
}

}  // namespace

ReferenceSizes sizes_for(const ReferenceSizes& sizes, const DeviceFacts& facts) {
  if (sizes.memory != 0) return sizes;
  std::uint64_t cache = 0;
  for (const CacheFacts& one : facts.caches) cache = std::max(cache, one.bytes);
  const std::uint64_t wanted = std::clamp(std::min(cache, 256 * kMebibyte) * 2, 8 * kMebibyte, 512 * kMebibyte);
  // Input and output are in memory at once.
  const std::uint64_t most = std::bit_floor(std::max(facts.memory_limit_bytes / 8, kMebibyte / 4));
  ReferenceSizes found = sizes;
  found.memory = std::min(wanted, most);
  return found;
}

CompiledModule ReferenceModules::module_for(const DeviceFacts& facts, const ReferenceSizes& sizes) {
  const Target target = compiler_.target_of(facts);
  const std::string key = key_of(target, sizes);
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(kept_, key, &std::pair<std::string, CompiledModule>::first);
    if (found != kept_.end()) return found->second;
  }
  const std::vector<lang::Program> programs = lang::parse(kReferenceText, "the reference kernels");
  CompileRequest request{{programs}, target, kReferenceText};
  request.scheduled.sizes = {
      {"N", sizes.compute}, {"L", static_cast<std::int64_t>(sizes.memory / sizeof(float))}, {"P", sizes.ping}};
  const CompiledModule module(compiler_.compile(request).module);
  const std::lock_guard lock(mutex_);
  if (kept_.size() == kMaxKept) kept_.erase(kept_.begin());
  kept_.emplace_back(key, module);
  return module;
}

}  // namespace ferry::farm
