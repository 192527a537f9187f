// Calls of functions on a device in this process without messages: host/client/connect/direct_session.h for the handles
// of ferry/client.h.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ferry/api.h"
#include "ferry/client.h"
#include "host/client/connect/direct_session.h"

namespace ferry::session {

// Returns where a tensor's memory is in this process, with what all requests before have written; null if it is
// elsewhere, or has no bytes. A session of the local server may change the contents at any time. Throws Error.
FERRY_API std::uint8_t* address_of(const DeviceTensor& tensor);

// A module of a device in this process, for direct calls. All functions throw Error.
class FERRY_API DirectModule {
 public:
  // Returns null for other devices.
  static std::shared_ptr<DirectModule> load(const Device& device, const CompiledModule& compiled);
  ~DirectModule();
  DirectModule(const DirectModule&) = delete;
  DirectModule& operator=(const DirectModule&) = delete;

  // Whether all tensors of the function are dense, and an instance of it has no constants to be bound.
  bool supports(std::size_t function) const;
  // Whether its code takes memory that is aligned as its elements are; other code takes multiples of 64 bytes.
  bool takes_unaligned() const;
  // Returns the shape of each parameter, those of outputs that are not given included. The arguments are those of
  // Function::call().
  std::vector<Shape> shapes(std::size_t function, const std::vector<Argument>& arguments) const;
  // Converts a number to the representation of a parameter's type.
  std::uint64_t scalar_bits(std::size_t function, std::size_t parameter, const Argument::Scalar& value) const;
  // One argument for each parameter. The call must not outlive this.
  std::unique_ptr<DirectCall> prepare(std::size_t function, std::span<const DirectArgument> arguments);

 private:
  struct State;
  explicit DirectModule(std::unique_ptr<State> state);
  const FunctionInfo& info(std::size_t function) const;
  std::unique_ptr<State> state_;
};

}  // namespace ferry::session
