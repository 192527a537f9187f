#include "host/in_process/in_process_connector.h"

#include <functional>
#include <utility>
#include <vector>

#include "base/throw_status.h"
#include "device-runtime/in_process/in_process_session.h"

namespace ferry::session {

namespace {

constexpr std::string_view kInProcess = "inproc://";

using Log = std::function<void(const std::string& line)>;

class Call final : public DirectCall {
 public:
  Call(device::InProcessSession& session, const Log& log, std::unique_ptr<device::InProcessCall> call)
      : session_(session), log_(log), call_(std::move(call)) {}

  bool is_movable() const override { return call_->is_movable(); }
  void set_memory(std::size_t parameter, void* memory) override { call_->set_memory(parameter, memory); }
  void set_scalar(std::size_t parameter, std::uint64_t bits) override { call_->set_scalar(parameter, bits); }
  void check() const override { throw_failure(call_->check()); }
  void run() override {
    const Status status = call_->run();
    if (log_)
      if (const std::string printed = session_.take_printed(); !printed.empty()) log_(printed);
    throw_failure(status);
  }

 private:
  device::InProcessSession& session_;
  const Log& log_;
  const std::unique_ptr<device::InProcessCall> call_;
};

class Direct final : public DirectSession {
 public:
  explicit Direct(Log log) : log_(std::move(log)), session_(FERRY_VERSION) {}

  std::unique_ptr<Transport> connect() { return session_.connect(); }

  void allocate(rpc::Handle buffer, std::uint64_t bytes) override { throw_failure(session_.allocate(buffer, bytes)); }
  void adopt(rpc::Handle buffer, void* memory, std::uint64_t bytes) override {
    throw_failure(session_.adopt(buffer, memory, bytes));
  }
  void free(rpc::Handle buffer) noexcept override { session_.free(buffer); }
  std::uint8_t* address(rpc::Handle buffer) const override { return session_.address(buffer); }
  void put_blob(const Blob& blob, const BlobSource& source) override {
    throw_failure(session_.put_blob(blob.hash, blob.bytes, [&](std::uint64_t offset, MutableByteSpan into) {
      source.read(blob.hash, offset, into);
    }));
  }
  std::unique_ptr<DirectCall> prepare(rpc::Handle module, std::size_t function, rpc::Handle instance,
                                      std::span<const DirectArgument> arguments) override {
    std::vector<device::InProcessArgument> given;
    for (const DirectArgument& argument : arguments)
      given.push_back({argument.shape, argument.memory, argument.scalar_bits});
    return std::make_unique<Call>(session_, log_, value_or_throw(session_.prepare(module, function, instance, given)));
  }

 private:
  const Log log_;
  mutable device::InProcessSession session_;
};

class InProcessConnector final : public Connector {
 public:
  Link open(const ConnectOptions& options) override {
    auto direct = std::make_shared<Direct>(options.log);
    Link link;
    link.transport = direct->connect();
    link.name = "this process";
    link.direct = std::move(direct);
    return link;
  }
};

}  // namespace

Scheme in_process_scheme() {
  return {.prefix = kInProcess,
          .form = kInProcess,
          .is_on_this_machine = [](const std::string&) { return true; },
          .connector = [](const Remote& remote, const Connectors&) -> std::shared_ptr<Connector> {
            if (remote.address != kInProcess)
              throw Error(ErrorCode::invalid_argument,
                          "expected nothing after inproc://, got '" + remote.address + "'");
            return std::make_shared<InProcessConnector>();
          }};
}

}  // namespace ferry::session
