#include "bench/kernels/peers/sleef.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ferry::bench {

#if defined(__x86_64__)

namespace {

using Wide = __m512 (*)(__m512);
using Narrow = __m256 (*)(__m256);

__attribute__((target("avx512f"))) void run_wide(Wide function, const float* x, float* y, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(y + i, function(_mm512_loadu_ps(x + i)));
  const auto rest = static_cast<__mmask16>((1U << (n - i)) - 1);
  _mm512_mask_storeu_ps(y + i, rest, function(_mm512_maskz_loadu_ps(rest, x + i)));
}

__attribute__((target("avx2"))) void run_narrow(Narrow function, const float* x, float* y, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(y + i, function(_mm256_loadu_ps(x + i)));
  float tail[8] = {};
  std::memcpy(tail, x + i, static_cast<std::size_t>(n - i) * sizeof(float));
  _mm256_storeu_ps(tail, function(_mm256_loadu_ps(tail)));
  std::memcpy(y + i, tail, static_cast<std::size_t>(n - i) * sizeof(float));
}

class SleefKernel final : public PeerKernel {
 public:
  SleefKernel(void* function, bool is_wide, const float* x, std::int64_t n)
      : function_(function), is_wide_(is_wide), x_(x), n_(n), result_(static_cast<std::size_t>(n)) {}
  void run() override {
    if (is_wide_) {
      run_wide(reinterpret_cast<Wide>(function_), x_, result_.data(), n_);
    } else {
      run_narrow(reinterpret_cast<Narrow>(function_), x_, result_.data(), n_);
    }
  }
  void copy_result(void* into) override { std::memcpy(into, result_.data(), result_.size() * sizeof(float)); }

 private:
  void* function_;
  bool is_wide_;
  const float* x_;
  std::int64_t n_;
  std::vector<float> result_;
};

class Sleef final : public Peer {
 public:
  explicit Sleef(void* library) : library_(library), is_wide_(__builtin_cpu_supports("avx512f") != 0) {}
  std::string name() const override { return "SLEEF 3"; }
  std::string instructions() const override { return is_wide_ ? "avx512f" : "avx2"; }
  std::unique_ptr<PeerKernel> prepare(const Operation& o, const std::vector<const void*>& inputs) override {
    // The variants with errors of at most 1 ulp and 3.5 ulp.
    std::string symbol;
    if (o.kind == OperationKind::exponential) symbol = is_wide_ ? "Sleef_expf16_u10avx512f" : "Sleef_expf8_u10avx2";
    if (o.kind == OperationKind::tangent) symbol = is_wide_ ? "Sleef_tanhf16_u35avx512f" : "Sleef_tanhf8_u35avx2";
    void* function = symbol.empty() ? nullptr : dlsym(library_, symbol.c_str());
    if (function == nullptr) return nullptr;
    return std::make_unique<SleefKernel>(function, is_wide_, static_cast<const float*>(inputs[0]), o.n);
  }

 private:
  void* library_;
  bool is_wide_;
};

}  // namespace

std::unique_ptr<Peer> load_sleef() {
  void* library = dlopen("libsleef.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return std::make_unique<Sleef>(library);
}

#else

std::unique_ptr<Peer> load_sleef() { throw std::runtime_error("SLEEF is only compared with on x86_64"); }

#endif

}  // namespace ferry::bench
