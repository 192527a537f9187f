// A small product that is tuned on this machine, and a builder with faulty schedules among those that it builds.
#pragma once

#include "base/throw_status.h"
#include "ferry/client.h"
#include "host/tune/records/record_file.h"
#include "host/tune/tune.h"

#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

namespace ferry::test {

inline const char* const kProduct = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

inline const Compiler& compiler() { return *own_compiler(); }

inline KernelSource product() {
  return read_kernel(&compiler(), {.file = {}, .expression = kProduct, .function = {}, .schedule = {}});
}

inline std::vector<bench::NamedDevice> this_machine() {
  return {{"this machine", [](const ConnectOptions& options) { return local_device(options); }}};
}

struct RecordsFile : Folder {
  const std::string name = path("records.jsonl");
  std::vector<tune::TuneRecord> records() const { return value_or_throw(tune::read_records(name)).records; }
};

inline tune::TuneOptions quick(const RecordsFile& file) {
  tune::TuneOptions options;
  options.call.sizes = {"M=37,N=64,K=40"};
  options.budget_seconds = 60;
  options.trials = 12;
  options.has_trials_limit = true;
  options.records = file.name;
  options.threads = 1;
  options.processes = 0;
  return options;
}

// Compiles other kernels with the product's signature at the points where `source` returns one.
inline tune::ModuleBytes compile_c(const std::string& body) {
  const std::string text = "void mm(const float* A, const float* B, float* C) {" + body + "}";
  const Folder folder;
  const ForeignSource source{
      folder.file("mm.c", text), {"mm(in f32[37,40] A, in f32[40,64] B, out f32[37,64] C)"}, {}, text};
  return compiler().compile(source, compiler().target_of(local_device().facts()), CodeForm::linked);
}

// Builds what others would, but for some points something that is fast and must not win.
class Planting final : public tune::Builder {
 public:
  Planting(tune::Compile compile) : inner_(std::move(compile)) {}
  tune::BuildResult build(const tune::PointInOrder& point) override {
    const int number = built_++;
    if (number == 3) return compile_c("(void)A; (void)B; C[0] = 1;");
    if (number == 4) return compile_c("(void)A; (void)B; *(volatile int*)8 = 1; C[0] = 1;");
    if (number == 5) return compile_c("(void)A; (void)B; while (1) ((volatile float*)C)[0] = 1;");
    if (number == 6) return tune::Failure{tune::Outcome::crashed, "the compiler crashed"};
    return inner_.build(point);
  }
  void pause() override {}
  void resume() override {}

 private:
  tune::DirectBuilder inner_;
  std::atomic<int> built_ = 0;
};

}  // namespace ferry::test
