// Modules for tests: kernels in C for the server's architecture, with handwritten manifests.
#pragma once

#include <string>
#include <vector>

#include "module/module_file.h"
#include "tests/unit/device-runtime/support/test_client.h"

namespace ferry::test {

// Returns a module with a kernel of every kind that the tests need; kit_source() in the .cpp documents each.
ModuleFile kit_module();
// Returns its file for the server of this test run, built once.
const Bytes& kit_file();

// Uploads the file under a new handle; the answer must be successful.
rpc::Handle put(TestClient& client, const Bytes& file);

// Makes system calls from inside a session, using the kit's kernel.
class SystemCaller {
 public:
  static constexpr std::int64_t kText = -999;  // as an argument: replaced by the address of the text

  explicit SystemCaller(TestClient& client) : client_(client), module_(put(client, kit_file())) {}
  // Returns the kernel's result: -errno on failure; of several calls, the result of the last one.
  std::int64_t operator()(long number, std::vector<std::int64_t> arguments = {}, const std::string& text = "",
                          std::int64_t times = 1);

 private:
  TestClient& client_;
  rpc::Handle module_;
};

// Builders for parts of manifests, with the symbol n where a size is needed.
ParameterInfo tensor_parameter(std::string name, Direction direction, DType dtype = DType::f32);
ParameterInfo scalar_parameter(std::string name, DType dtype);

}  // namespace ferry::test
