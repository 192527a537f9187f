#include "bench/kernels/cases.h"

#include "bench/kernels/request.h"

#include <tuple>

namespace ferry::bench {
namespace {

const std::vector<std::string> kOneDnn = {"onednn-debian", "onednn-gomp", "onednn-sycl"};
const std::vector<std::string> kGemm = {"onednn-debian", "onednn-gomp", "onednn-sycl", "openblas", "mkl"};
const std::vector<std::string> kVectorMath = {"onednn-debian", "onednn-gomp", "onednn-sycl", "mkl", "sleef"};

constexpr std::int64_t kBulk = std::int64_t{1} << 30;  // memory traffic of the memory-bound cases

std::string text(std::int64_t number) { return std::to_string(number); }

Case gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  Case c;
  c.name = "SGEMM " + (m == n && n == k ? text(m) : text(m) + "x" + text(k) + "x" + text(n));
  c.program = "mm.tc";
  c.sizes = {{"M", m}, {"N", n}, {"K", k}};
  c.operation.m = m;
  c.operation.n = n;
  c.operation.k = k;
  c.peers = kGemm;
  c.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  return c;
}

void add_gemms(std::vector<Case>& cases) {
  for (const std::int64_t size : {512, 1024, 2048}) {
    Case scheduled = gemm(size, size, size);
    scheduled.schedule = "sgemm_" + text(size) + ".txt";
    cases.push_back(scheduled);
    Case by_default = gemm(size, size, size);
    by_default.goal = 0.9;
    cases.push_back(by_default);
  }
  for (Case c : {gemm(1, 4096, 4096), gemm(8, 4096, 4096), gemm(128, 3072, 768)}) {
    c.name += ", constant weights";
    c.program = "mm_constant.tc";
    c.operation.constant_weights = true;
    cases.push_back(c);
  }
  Case two = gemm(1024, 1024, 1024);
  two.name += ", 2 threads";
  two.threads = 2;
  two.peers = {kSinglePeer};
  two.goal = 1.85;
  cases.push_back(two);
}

void add_narrow_gemms(std::vector<Case>& cases) {
  Case bytes = gemm(1024, 1024, 1024);
  bytes.name = "GEMM 1024, int8 to int32";
  bytes.program = "mm_i8_raised.tc";
  bytes.schedule = "mm_i8.txt";
  bytes.operation.numbers = Numbers::i8;
  Case halves = gemm(1024, 1024, 1024);
  halves.name = "GEMM 1024, bfloat16 to float32";
  halves.program = "mm_bf16.tc";
  halves.schedule = "mm_bf16.txt";
  halves.operation.numbers = Numbers::bf16;
  for (Case* c : {&bytes, &halves}) {
    c->goal = 0.8;
    cases.push_back(*c);
  }
}

Case convolution(std::int64_t channels, std::int64_t size) {
  Case c;
  c.name = "conv 3x3 " + text(channels) + "x" + text(size) + "x" + text(size);
  c.sizes = {{"C", channels}, {"O", channels}, {"S", size}};
  c.operation.kind = OperationKind::convolution;
  c.operation.channels = c.operation.filters = channels;
  c.operation.size = size;
  c.peers = kOneDnn;
  c.flops = 18.0 * static_cast<double>(channels * channels * size * size);
  return c;
}

void add_convolutions(std::vector<Case>& cases) {
  for (const auto& [channels, size] : {std::pair{64, 56}, {128, 28}, {256, 14}, {512, 7}}) {
    Case blocked = convolution(channels, size);
    blocked.name += " NCHW16c";
    blocked.program = "conv3x3_blocked.tc";
    blocked.schedule = "conv3x3_blocked_" + text(size) + ".txt";
    blocked.blocked = blocked.operation.own_layout = true;
    blocked.goal = size == 7 ? 0.9 : 0.95;
    cases.push_back(blocked);
    Case plain = convolution(channels, size);
    plain.name += " NCHW";
    plain.program = "conv3x3.tc";
    plain.goal = 0.8;
    cases.push_back(plain);
  }
  for (const auto& [channels, size, tile] : {std::tuple{64, 56, 4}, {128, 28, 4}, {256, 14, 2}, {512, 7, 2}}) {
    Case winograd = convolution(channels, size);
    winograd.name += " Winograd F(" + text(tile) + "x" + text(tile) + ")";
    winograd.blocked = winograd.operation.own_layout = true;
    winograd.operation.winograd_tile = tile;
    winograd.peers = {"onednn-debian"};  // version 3 has no Winograd convolution for this type
    winograd.goal = 1.05;
    cases.push_back(winograd);
  }
  for (const auto& [channels, size] : {std::pair{32, 112}, {512, 14}}) {
    Case c = convolution(channels, size);
    c.name = "depthwise 3x3 " + text(channels) + "x" + text(size) + "x" + text(size);
    c.program = "depthwise.tc";
    c.sizes.erase("O");
    c.operation.kind = OperationKind::depthwise;
    c.operation.own_layout = true;
    c.flops = 18.0 * static_cast<double>(channels * size * size);
    c.goal = 1.1;
    cases.push_back(c);
  }
}

Case by_rows(const char* name, const char* program, OperationKind kind, std::int64_t m, std::int64_t n) {
  Case c;
  c.name = name;
  c.program = program;
  c.sizes = {{"M", m}, {"N", n}};
  c.operation.kind = kind;
  c.operation.m = m;
  c.operation.n = n;
  c.peers = kOneDnn;
  return c;
}

void add_rows_and_math(std::vector<Case>& cases) {
  Case softmax = by_rows("softmax 1024x1024", "softmax.tc", OperationKind::softmax, 1024, 1024);
  Case norm = by_rows("layer norm 1024x768", "layer_norm.tc", OperationKind::layer_norm, 1024, 768);
  softmax.goal = norm.goal = 1.5;
  cases.push_back(softmax);
  cases.push_back(norm);
  struct Function {
    const char* name;
    OperationKind kind;
  };
  for (const Function& function : {Function{"exp", OperationKind::exponential},
                                   {"tanh", OperationKind::tangent},
                                   {"sigmoid", OperationKind::sigmoid}}) {
    Case c = by_rows(function.name, "", function.kind, 1, 1'000'000);
    c.program = c.name + ".tc";
    c.name += " of 1000000 floats";
    c.sizes.erase("M");
    c.peers = kVectorMath;
    c.goal = 0.9;
    cases.push_back(c);
  }
}

// Cases that move one gibibyte, far more than any cache holds.
void add_memory_bound(std::vector<Case>& cases) {
  const std::int64_t third = kBulk / 12 / 1024 * 1024, half = kBulk / 8;
  Case add = by_rows("vector add, 1 GiB moved", "add.tc", OperationKind::add, 1, third);
  add.sizes.erase("M");
  Case broadcast = by_rows("broadcast add (m,1)+(m,n), 1 GiB moved", "broadcast_add.tc", OperationKind::broadcast_add,
                           half / 4096, 4096);
  Case norm = convolution(half / (64 * 64), 64);
  norm.name = "batch norm + relu, 1 GiB moved";
  norm.program = "batch_norm_relu.tc";
  norm.operation.kind = OperationKind::batch_norm_relu;
  norm.sizes.erase("O");
  norm.flops = 0;
  // Four elements are read for each one that is written.
  Case pool = convolution(kBulk / 4 * 4 / 5 / (64 * 64), 64);
  pool.name = "max pool 2x2, 1 GiB moved";
  pool.program = "max_pool.tc";
  pool.operation.kind = OperationKind::max_pool;
  pool.sizes.erase("O");
  pool.flops = 0;
  for (Case* c : {&add, &broadcast, &norm, &pool}) {
    c->bytes = static_cast<double>(kBulk);
    c->peers = {kCopyPeer};
    c->goal = 0.9;
    cases.push_back(*c);
  }
}

}  // namespace

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_gemms(cases);
  add_convolutions(cases);
  add_memory_bound(cases);
  add_rows_and_math(cases);
  add_narrow_gemms(cases);
  return cases;
}

}  // namespace ferry::bench
