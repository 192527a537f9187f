// A program as a user of the installed library writes it, with one kernel as text and one in the C++ notation.
#include <ferry/ferry.h>
#include <ferry/measure.h>

#include <cstdio>
#include <fstream>
#include <vector>

namespace {

bool check(const char* what, bool right) {
  if (!right) fprintf(stderr, "outside: %s\n", what);
  return right;
}

// A kernel in C, which ferry compiles, checks against another kernel, and runs.
bool check_kernel_in_c(const ferry::Device& device) {
  std::ofstream("twice.c") << "#include <stdint.h>\n"
                              "// ferry: twice(in f32[N] A, out f32[N] B)\n"
                              "void twice(const float* a, float* b, int64_t n) {\n"
                              "  for (int64_t i = 0; i < n; ++i) b[i] = a[i] + a[i];\n"
                              "}\n";
  std::ofstream("twice.tc") << "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }\n";
  ferry::verify::CheckRequest request;
  request.kernel.file = "twice.c";
  request.call.sizes = {"N=5"};
  request.reference = "twice.tc";
  bool right = check("a kernel in C under sanitizers", ferry::check(request).is_fine());
  const ferry::verify::CheckReport report = ferry::check(device, request);
  right &= check("a kernel in C on a device", report.is_fine() && report.findings.checks.size() == 1);
  const ferry::CompiledModule module = ferry::compile(request.kernel, ferry::target_of(device), request.call);
  const ferry::Function twice = device.load(module)["twice"];
  right &=
      check("a call of a kernel in C", twice(std::vector<float>{1, 2}).to_vector<float>() == std::vector<float>{2, 4});
  try {
    request.call.sizes = {"Q=5"};
    (void)ferry::check(request);
    right = check("a size that does not exist is refused", false);
  } catch (const ferry::OptionError& error) {
    right &= check(error.what(), error.option() == ferry::Option::size);
  }
  return right;
}

}  // namespace

// Measures and compares kernels, one of them in C.
bool measures(const ferry::Device& device);

int main() try {
  const ferry::Device device = ferry::local_device();
  const char* source = "def mm(float32(M,K) A, float32(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const ferry::Function mm = device.load(ferry::compile(source, ferry::target_of(device)))["mm"];
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 0, 1, 1, 1};
  const ferry::DeviceTensor c = mm(ferry::view(a, {2, 3}), ferry::view(b, {3, 2}));
  bool right = check("mm of views", c.to_vector<float>() == std::vector<float>{4, 5, 10, 11});
  right &= check("the output's shape", c.shape() == ferry::Shape{2, 2});
  right &= check("mm of a tensor and a flat span",
                 mm(c, std::vector<float>{1, 1}).to_vector<float>() == std::vector<float>{9, 21});
  right &= check("a time", mm.bench(c, c).median() > 0);

  // Both namespaces together: no name is ambiguous.
  using namespace ferry;
  using namespace ferry::lang;
  const Expr n = var("n");
  const Tensor from = placeholder({n}, DType::i32, "from");
  const Tensor to = compute({n}, [&](const std::vector<Expr>& i) { return from(i[0]) * from(i[0]) + 1; }, "to");
  const Function squares =
      device.load(compile(make_program("squares", {in(from), out(to)}), target_of(device)))["squares"];
  const DeviceTensor result = squares(std::vector<int>{1, 2, 3});
  right &= check("a program built in C++", result.to_vector<int>() == std::vector<int>{2, 5, 10});

  try {
    mm(ferry::view(a, {2, 3}), ferry::view(b, {2, 3}));
    right &= check("a shape that does not fit is refused", false);
  } catch (const ferry::Error& error) {
    right &= check(error.what(), error.code() == ferry::ErrorCode::invalid_argument);
  }
  try {
    ferry::compile("def", ferry::target_of(device));
    right &= check("a syntax error is refused", false);
  } catch (const ferry::CompileError&) {
  }
  right &= check("measuring and comparing", measures(device));
  right &= check_kernel_in_c(device);
  return right ? 0 : 1;
} catch (const std::exception& error) {
  fprintf(stderr, "outside: %s\n", error.what());
  return 1;
}
