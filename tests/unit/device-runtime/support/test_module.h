// Modules for tests: kernels in C for the server's architecture, with manifests written here.
#pragma once

#include <string>
#include <vector>

#include "rpc/abi/module_file.h"
#include "tests/unit/device-runtime/support/test_client.h"

namespace ferry::test {

// A kernel of every kind that the tests need: see kit_source() in the .cpp for what each does.
ModuleFile kit_module();
// Its file for the server of this test run, made once.
const Bytes& kit_file();

// Uploads the file under a new handle; the answer must be good.
rpc::Handle put(TestClient& client, const Bytes& file);

// Makes system calls from inside a session, by the kit's kernel.
class SystemCaller {
 public:
  static constexpr std::int64_t kText = -999;  // as an argument: the address of the text

  explicit SystemCaller(TestClient& client) : client_(client), module_(put(client, kit_file())) {}
  // The result as the kernel gives it: -errno when it failed; of the last one with several.
  std::int64_t operator()(long number, std::vector<std::int64_t> arguments = {}, const std::string& text = "",
                          std::int64_t times = 1);

 private:
  TestClient& client_;
  rpc::Handle module_;
};

// Parts of manifests, over the symbol n where a size is needed.
ParameterInfo tensor_parameter(std::string name, Direction direction, DType dtype = DType::f32);
ParameterInfo scalar_parameter(std::string name, DType dtype);

}  // namespace ferry::test
