// Measures a call in a process of its own with inputs that are new to it in each call, and checks what it computes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/random_stream.h"
#include "device-runtime/handlers/fresh_outputs.h"
#include "device-runtime/handlers/fresh_values.h"
#include "device-runtime/handlers/isolated_calls.h"

namespace ferry::device {

// A window has at most as many calls as there are sets of arguments, and each takes another set. Before it, the inputs
// of each are drawn anew from those that the client gave, so that the values stay in their range: cache lines and
// single elements of inputs of floats, and of integers of at most 16 bits. Integers of 32 and 64 bits may be positions
// in other tensors, and stay. In some windows, which are not timed, only three elements change. After the window, each
// call must have written its outputs; and after every second window, on average, a second process that runs the same
// code, and has seen other inputs before, must come to the same results.
class FreshCall final : public Workload {
 public:
  // `call` is one of those that are isolated, with twins; `checked` is that call, `others` are those of other sizes.
  // `cool` empties the caches before a window, or is empty. All must outlive this. Draws equal inputs for equal seeds
  // and parameters.
  FreshCall(IsolatedCalls& isolated, std::size_t call, const CheckedCall& checked, std::span<const OtherCall> others,
            const SecretSeed& seed, double rtol, std::function<void()> cool);
  // Fails with resource_exhausted without the memory to keep the contents of inout tensors.
  Status prepare();
  // Whether any input changes; if none does, all calls compute the same.
  bool has_fresh_inputs() const { return !inputs_.empty(); }

  std::int32_t run() override;
  std::int32_t sample(std::uint64_t calls, std::int64_t& elapsed_ns) override;
  std::int32_t first_call(std::int64_t& elapsed_ns) override;
  std::uint64_t calls_in_turn() const override { return turns_; }
  std::int64_t spent_ns(std::int64_t elapsed_ns) const override { return elapsed_ns + beside_ns_; }
  std::int64_t clock_resolution_ns() const override { return timed_.clock_resolution_ns(); }
  std::optional<bool> was_interrupted() const override { return was_interrupted_; }

  // The arguments of another call with tensors of the same sizes, or of other sizes.
  static constexpr std::uint64_t kAny = ~std::uint64_t{0};
  struct Beside {
    std::vector<DeviceArgument> arguments;
    std::size_t other = 0;        // its number among the calls of other sizes, from 1 on; 0: it is none
    std::uint64_t window = kAny;  // the timed one, or that before which it comes; kAny: drawn as they come
    bool is_done = false;
  };
  // From now on copies the arguments of one of the calls of samples to those of each witness, which is decided after
  // its window. Alone, each call is as likely to be it as any other. In turns with others it is of the same window in
  // each, for equal seeds, which is often one of the first `samples` and never beyond the first few thousand.
  //
  // For each check, makes one of the calls of a window with its inputs, and copies the outputs to it; one of other
  // sizes takes that call's place. The window is not timed, and comes between those of samples, at a place as that of a
  // witness in turns, or after them if these are fewer. All else is as in other windows.
  void take(std::vector<Beside> witnesses, std::vector<Beside> checks, bool in_turns, std::uint64_t samples);
  // Makes the checks whose windows did not come.
  std::int32_t finish_checks();
  // Measures some windows of a single call, where samples have more: what a kernel does once for all calls of a window
  // shows.
  std::int32_t call_alone(double& least_s);
  // Makes one more call, with the inputs that the client gave and the first set of arguments.
  std::int32_t run_as_named();
  // Adds the samples so far whose calls left an output unwritten, or came to other results than the twin.
  void add_counts(Samples& samples) const;
  // The first failure of the device.
  const Status& status() const { return outputs_.status(); }

 private:
  struct Input {
    std::size_t parameter = 0;
    DType dtype = DType::f32;
    std::uint64_t elements = 0;
    const std::uint8_t* named = nullptr;  // as the client gave it
    ValueRange range = {};

    std::size_t element_bytes() const { return dtype_bytes(dtype); }
  };
  struct Set {
    std::vector<DeviceArgument> arguments, of_twin;
    const BoundCall* bound = nullptr;
  };

  // The calls of a window: so many sets from the first on. If there is a check, it has the turn of the set `turn`, and
  // is in the set `checked`, which is the same one unless it is of other sizes.
  struct Calls {
    std::size_t first = 0;
    std::uint64_t count = 0;
    Beside* check = nullptr;
    std::size_t turn = 0, checked = 0;

    IsolatedCall::Exchange exchange() const { return {check == nullptr ? 0 : check->other, turn}; }
  };

  enum class Change : std::uint8_t { lines, few_elements };

  std::int32_t sample_windows(std::uint64_t calls, std::int64_t& elapsed_ns, bool is_timed);
  std::int32_t run_window(std::uint64_t calls, Change change, std::int64_t& elapsed_ns, Beside* check = nullptr);
  std::int32_t run_untimed(std::uint64_t calls, Change change, Beside* check = nullptr);
  void draw_windows(std::vector<Beside>& all, std::uint64_t samples);
  void keep_witnesses(std::uint64_t calls);
  // The kinds of tensors to copy; their sum is a set of them.
  static constexpr unsigned kInputs = 1, kOutputs = 2, kInouts = 4;
  void copy(const std::vector<DeviceArgument>& from, const std::vector<DeviceArgument>& to, const BoundCall& bound,
            unsigned what);
  void renew(const Set& set, Change change);
  void draw_lines(const Input& input, const Set& set, bool stay);
  bool replace_element(const Input& input, const Set& set);
  void restore_for_twin(std::size_t set, const Calls& calls);
  std::int32_t inspect(const Calls& calls);

  IsolatedCalls& isolated_;
  std::size_t call_;
  CheckedCall checked_;
  std::span<const OtherCall> others_;
  IsolatedCall &timed_, &twin_;
  RandomStream random_;
  FreshOutputs outputs_;
  std::function<void()> cool_;
  std::vector<Input> inputs_;
  std::vector<Set> sets_;  // those that calls take in turn, then the calls of other sizes
  std::size_t turns_ = 0;
  std::uint64_t output_bytes_ = 0, windows_ = 0;
  std::vector<double> aims_;    // where inputs were replaced, as a share of their elements
  std::int64_t beside_ns_ = 0;  // what the last sample did beside its calls
  bool was_interrupted_ = false, is_unwritten_ = false, is_wrong_ = false;
  std::uint64_t unwritten_ = 0, wrong_ = 0;
  std::vector<Beside> witnesses_, checks_;
  std::size_t first_ = 0;  // the first set of the last window
  std::uint64_t timed_windows_ = 0, window_calls_ = 1;
};

}  // namespace ferry::device
