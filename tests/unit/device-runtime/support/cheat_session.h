// A session that measures kernels that cheat.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/device-runtime/support/cheat_checks.h"
#include "tests/unit/device-runtime/support/cheating_kernels.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {

inline constexpr std::int64_t kElements = 10'000;

// Whether the processor time outside of windows was too long for times that mean something.
inline bool is_refused(const Status& status) {
  return status.message().find(" ms outside of them") != std::string::npos;
}

// A session with the cheating kernels.
struct CheatSession {
  std::unique_ptr<TestClient> owner;
  TestClient& client = *owner;
  rpc::Handle module = put(client, cheating_kernels());
  std::vector<float> input;
  rpc::Handle x, y, second_y;

  explicit CheatSession(const OpenClient& open) : owner(open()) {
    for (std::int64_t i = 0; i < kElements; ++i) input.push_back(static_cast<float>(i % 1000) + 0.5F);
    x = client.upload(input);
    y = client.upload(std::vector<float>(kElements, -1));
    second_y = client.upload(std::vector<float>(kElements, -1));
  }

  rpc::Call call(const char* function, bool second = false) const {
    return {module, function, {tensor(x, {kElements}), tensor(second ? second_y : y, {kElements})}};
  }
  rpc::Evaluate request(const std::vector<const char*>& functions, bool fresh_inputs = false,
                        std::uint32_t number = 1) const {
    rpc::Evaluate request;
    for (const char* function : functions) request.calls.push_back(call(function, !request.calls.empty()));
    request.options = {.number = number, .repeat = 20, .min_repeat_ms = 0, .warmup_ms = 1};
    request.options.threads = 1;
    request.options.poison = {99, 1};
    request.options.isolated = true;
    request.options.fresh_inputs = fresh_inputs;
    return request;
  }
  Answer<Evaluation> measure(const std::vector<const char*>& functions, bool fresh_inputs = false,
                             std::uint32_t number = 1) {
    return measure(request(functions, fresh_inputs, number));
  }
  Answer<Evaluation> measure(const rpc::Evaluate& request) {
    // A busy host may count what it takes from an emulated board as the kernel's; a kernel that runs outside of its
    // windows does so each time.
    Answer<Evaluation> answer = client.ask(request);
    for (int i = 0; i < 5 && is_refused(answer.status); ++i) answer = client.ask(request);
    return answer;
  }
};

// Whether calls have inputs of their own.
inline std::vector<bool> ways_of_inputs(Extent extent) {
  return extent == Extent::whole ? std::vector<bool>{false, true} : std::vector<bool>{true};
}

}  // namespace ferry::test
