// Kernels in CUDA C through the command line: run, compare, bench, compile, inspect and the gate, on a simulated GPU.
#include "tests/e2e/cuda_c/cuda_fixture.h"

using namespace ferry::test;

namespace {

Outcome refused(const std::string& text, std::vector<std::string> words) {
  const Folder folder;
  words.insert(words.begin(), {"compile", folder.file("k.cu", text), "-o", folder.path("k.ferry")});
  return run_ferry(words);
}

}  // namespace

TEST_CASE("a kernel runs on the GPU at hand, and its results are compared with its definition") {
  if (!has_nvrtc()) return;
  const CudaServer server;
  for (const char* name : {"01_vector_add", "02_product", "04_stencil"}) {
    CAPTURE(name);
    const std::string file = name;
    const char* sizes = file == "01_vector_add" ? "n=777" : file == "02_product" ? "m=19,k=21,n=35" : "h=13,w=67";
    const Outcome outcome = run_ferry({"run", example(file + ".cu"), "--size", sizes, "--check-against",
                                       example(file + ".tc"), "--remote", server.address(), "--json"});
    CHECK_MESSAGE(outcome.code == 0, outcome.out, outcome.err);
    CHECK(contains(outcome.out, "cuda -arch=sm_80"));
  }
  const Outcome sums =
      run_ferry({"compare", example("03_row_sum.cu"), example("03_row_sum.tc"), "--fn-a", "row_sum", "--size",
                 "m=5,n=90", "--target", "cuda -arch=sm_80", "--remote", server.address(), "--processes", "3"});
  CHECK_MESSAGE((sums.code == 0 || sums.code == 4), sums.out, sums.err);
  const Outcome bench = run_ferry({"bench", example("01_vector_add.cu"), "--size", "n=100", "--remote",
                                   server.address(), "--launch", "grid=ceildiv(n, 32), block=32"});
  CHECK_MESSAGE(bench.code == 0, bench.out, bench.err);
}

TEST_CASE("variables of the program begin anew whenever the module is loaded") {
  if (!has_nvrtc()) return;
  const CudaServer server;
  const Folder folder;
  const std::string kernel = folder.file("k.cu",
                                         "// ferry: f(in i32[n] x, out i32[n] y) grid=1, block=n\n"
                                         "__device__ int calls;\n"
                                         "__global__ void f(const int* x, int* y, long long n) {\n"
                                         "  if (threadIdx.x == 0) calls += 1;\n"
                                         "  __syncthreads();\n"
                                         "  y[threadIdx.x] = x[threadIdx.x] + calls;\n"
                                         "}\n");
  // Exact sums and the search for inputs that do not matter call it again and again.
  const Outcome outcome = run_ferry({"run", kernel, "--size", "n=8", "--check-against",
                                     folder.file("f.tc", "def f(int32(n) x) -> (y) { y(i) = x(i) + 1 }"), "--thorough",
                                     "--remote", server.address()});
  CHECK_MESSAGE(outcome.code == 0, outcome.out, outcome.err);
}

TEST_CASE("a module holds cubins and PTX, launches, and runs without the compiler's options") {
  if (!has_nvrtc()) return;
  const CudaServer server;
  const Folder folder;
  const std::string module = folder.path("product.ferry");
  const Outcome compiled =
      run_ferry({"compile", example("02_product.cu"), "--target", "cuda -arch=sm_80", "-o", module});
  REQUIRE_MESSAGE(compiled.code == 0, compiled.err);
  const Outcome inspected = run_ferry({"inspect", module});
  CHECK(contains(inspected.out, "product"));
  CHECK(contains(inspected.out, "ptx-sm_80"));
  CHECK(contains(inspected.out, "grid"));
  const Outcome ran = run_ferry({"run", module, "--size", "m=5,k=6,n=7", "--remote", server.address(),
                                 "--check-against", example("02_product.tc")});
  CHECK_MESSAGE(ran.code == 0, ran.out, ran.err);
  const Outcome ptx = run_ferry({"compile", example("02_product.cu"), "--emit", "ptx"});
  CHECK(contains(ptx.out, ".entry _Z7product"));
}

TEST_CASE("launches are checked before anything is sent, and on the device again") {
  if (!has_nvrtc()) return;
  const CudaServer server;
  const auto run = [&](const std::string& launch) {
    return run_ferry(
        {"run", example("01_vector_add.cu"), "--size", "n=100", "--launch", launch, "--remote", server.address()});
  };
  CHECK(contains(run("grid=n/256, block=256").err, "the grid must have 1 to 2,147,483,647 blocks along x"));
  CHECK(contains(run("grid=1, block=n*n").err, "1 to 1,024 threads"));
  CHECK(contains(run("grid=1, block=1, shared=n*100000").err, "bytes of shared memory"));
  CHECK(contains(run("grid=(1, 70000*n), block=1").err, "1 to 65,535 blocks along y"));
  CHECK(contains(run("grid=k, block=1").err, "expected a size of the signature: n"));
}

TEST_CASE("a kernel must be declared as its signature says") {
  if (!has_nvrtc()) return;
  const std::string head = "// ferry: f(f32 a, in f32[n] x, out f32[n] y, i32 n) grid=1, block=n\n";
  const auto message = [&](const std::string& declared) {
    const Outcome outcome = refused(head + "__global__ void f(" + declared + ") {}\n", {});
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(contains(message("float a, const double* x, float* y, int n"),
                 "k.cu:2: parameter 2 of f: expected const float* x, got double const*"));
  CHECK(contains(message("float a, const float* x, const float* y, int n"), "which cannot be written"));
  CHECK(contains(message("float a, const float* x, float* y, long long n"),
                 "parameter 4 of f: expected int32_t n, got long long"));
  CHECK(contains(message("float a, const float* x, float* y"), "the size int32_t n is missing"));
  CHECK(contains(refused(head + "__device__ void f() {}", {}).err, "expected a kernel 'f', got none"));
  CHECK(contains(refused("__global__ void f() {}", {}).err, "// ferry: saxpy"));
  CHECK(contains(refused("// ferry: f(out f32[3] y)\n__global__ void f(float* y) {}", {}).err, "--launch"));
  CHECK(contains(refused(head + "__global__ void f(int x) { undefined(); }", {}).err, "k.cu(2): error"));
  CHECK(contains(refused(head + "__global__ void f(int x) {}", {"--target", "host"}).err,
                 "expected a target such as 'cuda"));
  CHECK(contains(refused(head + "__global__ void f(int x) {}", {"--target", "cuda -compiler=llvm"}).err,
                 "by NVRTC alone"));
}

TEST_CASE("the compiler reads no files but those of the kernel's folder") {
  if (!has_nvrtc()) return;
  const Folder folder, other;
  const std::string secret = other.file("secret.h", "the secret is 1234;\n");
  const std::string head = "// ferry: f(out f32[3] y) grid=1, block=3\n";
  folder.file("beside.h", "#define TWO 2\n");
  const std::string kernel = "__global__ void f(float* y) { y[threadIdx.x] = TWO; }\n";
  const Outcome fine =
      run_ferry({"check", folder.file("a.cu", head + "#include \"beside.h\"\n#include <stdint.h>\n" + kernel)});
  CHECK_MESSAGE(fine.code == 0, fine.err);
  const Outcome stolen = run_ferry({"check", folder.file("b.cu", head + "#include \"" + secret + "\"\n" + kernel)});
  CHECK(stolen.code == 2);
  CHECK_MESSAGE((!contains(stolen.err, "1234") || contains(fine.err, "no Landlock")), stolen.err);
}

TEST_CASE("a suite of the gate measures a kernel in CUDA C") {
  if (!has_nvrtc()) return;
  const CudaServer server;
  const Folder folder;
  folder.file("01_vector_add.cu", content_of(example("01_vector_add.cu")));
  const std::string suite = folder.file("suite.toml",
                                        "[cases.add]\nkernel = \"01_vector_add.cu\"\nsizes = \"n=64\"\nlaunch = "
                                        "\"grid=ceildiv(n, 32), block=32\"\n");
  const Outcome first = run_ferry({"gate", suite, "--remote", server.address(), "--store", folder.path("store")});
  CHECK_MESSAGE(first.code == 0, first.out, first.err);
  folder.file("suite.toml", "[cases.add]\nkernel = \"01_vector_add.cu\"\nlaunch = \"grid=q, block=32\"\n");
  const Outcome wrong = run_ferry({"gate", suite, "--remote", server.address(), "--store", folder.path("store")});
  CHECK(wrong.code == 2);
  CHECK_MESSAGE(contains(wrong.err + wrong.out, "expected a size of the signature"), wrong.out, wrong.err);
}
