// Measures and compares kernels as a program of a user does, without the command line.
#include <ferry/ferry.h>
#include <ferry/measure.h>

#include <cstdio>
#include <fstream>

namespace {

const char* const kMatmul = "def mm(float32(M,K) A, float32(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
const char* const kMatmulInC =
    "// ferry: mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)\n"
    "void mm(const float* A, const float* B, float* C, long M, long K, long N) {\n"
    "  for (long m = 0; m < M; ++m)\n"
    "    for (long n = 0; n < N; ++n) {\n"
    "      float sum = 0;\n"
    "      for (long k = 0; k < K; ++k) sum += A[m * K + k] * B[k * N + n];\n"
    "      C[m * N + n] = sum;\n"
    "    }\n"
    "}\n";

bool expect(const char* what, bool right) {
  if (!right) fprintf(stderr, "outside: %s\n", what);
  return right;
}

}  // namespace

bool measures(const ferry::Device& device) {
  namespace bench = ferry::bench;
  bench::MeasureOptions options;
  options.sampling.bench.repeat = options.sampling.bench.max_repeat = 10;
  options.sampling.bench.min_repeat_ms = 1;
  const auto open = [](const ferry::ConnectOptions& wanted) { return ferry::local_device(wanted); };
  ferry::KernelOptions text;
  text.expression = kMatmul;
  const ferry::CallOptions call{{}, {"M=32,N=32,K=32"}};
  const bench::Measurement found = ferry::measure(device, {text, call}, options);
  bool right = expect("operations", found.flops == 2.0 * 32 * 32 * 32);
  right &= expect("samples", found.timing.seconds.size() == 10);
  right &= expect("an interval around the median", found.interval().contains(found.timing.median()));
  right &= expect("a share of the peak", found.share_of_flops().value_or(0) > 0);

  bench::MeasureOptions checking = options;
  checking.check_definition = true;
  const std::vector<bench::NamedDevice> devices = {
      {"this machine", open}, {"nowhere", [](const ferry::ConnectOptions&) { return ferry::connect("127.0.0.1:1"); }}};
  const std::vector<bench::Sweep> sweeps = {bench::parse_sweep("M=4,8")};
  const bench::Measurements swept = ferry::measure_on(devices, {text, {{}, {"N=32,K=32"}}}, sweeps, checking);
  right &= expect("a measurement for each size", swept.done.size() == 2 && swept.done[1].function.sizes[0].second == 8);
  right &= expect("results that were checked", swept.done.size() == 2 && swept.done[0].findings.checks.size() == 1);
  right &= expect("a device that failed", swept.failures.size() == 1 && swept.failures[0].name == "nowhere");

  const ferry::Module module = device.load(ferry::compile(kMatmul, ferry::target_of(device)));
  const std::vector<float> ones(16, 1.0f);
  const bench::Measurement loaded =
      ferry::measure(device, module, "mm", {ferry::view(ones, {4, 4}), ferry::view(ones, {4, 4})}, options);
  right &= expect("operations of a loaded function", loaded.flops == 2.0 * 4 * 4 * 4);
  right &= expect("a share of the peak of a loaded function", loaded.share_of_flops().value_or(0) > 0);

  std::ofstream("mm.c") << kMatmulInC;
  ferry::KernelOptions in_c;
  in_c.file = "mm.c";
  bench::CompareOptions comparing;
  comparing.call = call;
  comparing.processes = 3;
  const bench::KernelComparison compared = ferry::compare(open, in_c, text, comparing);
  right &= expect("the same results", compared.difference().empty());
  right &= expect("a ratio", compared.times.ratio > 0 && compared.processes.size() == 3);
  right &= expect("a verdict", !ferry::stats::to_text(compared.times, comparing.least_effect).empty());

  try {
    comparing.processes = 0;
    ferry::compare(open, in_c, text, comparing);
    right &= expect("a refusal of no processes", false);
  } catch (const ferry::UsageError& error) {
    right &= expect(error.what(), error.code() == ferry::ErrorCode::invalid_argument);
  }
  right &= expect("a null call", bench::measure_null_calls(device, 5).front() > 0);
  return right;
}
