// oneDNN as a peer. It is compiled once for each installed version, into a separate shared object, because versions 2
// and 3 have the same symbols but different interfaces.

#include <dnnl.hpp>
#include <unordered_map>

#include "bench/kernels/peer.h"

#if DNNL_VERSION_MAJOR >= 3
#define FERRY_DNNL_3 1
#else
#define FERRY_DNNL_3 0
#endif

namespace ferry::bench {
namespace {

using dnnl::memory;
using Dims = memory::dims;
using Tag = memory::format_tag;
using Type = memory::data_type;

// A primitive with its memory. Inputs are converted to the layout that the primitive prefers before any timing starts.
class DnnlKernel final : public PeerKernel {
 public:
  DnnlKernel(dnnl::engine engine, dnnl::primitive primitive, std::string implementation)
      : engine_(engine),
        stream_(engine),
        primitive_(std::move(primitive)),
        implementation_(std::move(implementation)) {}

  void add_input(int argument, const memory::desc& plain, const memory::desc& wanted, const void* data) {
    memory given(plain, engine_, const_cast<void*>(data));
    if (plain == wanted) {
      arguments_.insert({argument, given});
      return;
    }
    memory arranged(wanted, engine_);
    dnnl::reorder(given, arranged).execute(stream_, given, arranged);
    stream_.wait();
    arguments_.insert({argument, arranged});
  }
  void set_output(const memory::desc& plain, const memory::desc& wanted) {
    plain_output_ = plain;
    output_ = memory(wanted, engine_);
    arguments_.insert({DNNL_ARG_DST, output_});
  }

  void run() override {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }
  void copy_result(void* into) override {
    memory plain(plain_output_, engine_, into);
    dnnl::reorder(output_, plain).execute(stream_, output_, plain);
    stream_.wait();
  }
  std::string implementation() const override { return implementation_; }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::string implementation_;
  std::unordered_map<int, memory> arguments_;
  memory::desc plain_output_;
  memory output_;
};

// Creates the descriptor of a primitive; version 2 needs a description of the operation first.
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc describe(const dnnl::engine& engine, const Arguments&... arguments) {
#if FERRY_DNNL_3
  return typename Primitive::primitive_desc(engine, arguments...);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), engine);
#endif
}

class Dnnl final : public Peer {
 public:
  Dnnl() : engine_(dnnl::engine::kind::cpu, 0) {}

  std::string name() const override {
    const dnnl::version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }

  std::string instructions() const override {
    switch (dnnl::get_effective_cpu_isa()) {
      case dnnl::cpu_isa::sse41: return "sse4.1";
      case dnnl::cpu_isa::avx: return "avx";
      case dnnl::cpu_isa::avx2: return "avx2";
      case dnnl::cpu_isa::avx512_core: return "avx512_core";
      case dnnl::cpu_isa::avx512_core_vnni: return "avx512_core_vnni";
      case dnnl::cpu_isa::avx512_core_bf16: return "avx512_core_bf16";
      default: return "isa " + std::to_string(static_cast<int>(dnnl::get_effective_cpu_isa()));
    }
  }

  std::unique_ptr<PeerKernel> prepare(const Operation& operation, const std::vector<const void*>& inputs) override {
    switch (operation.kind) {
      case OperationKind::gemm: return gemm(operation, inputs);
      case OperationKind::convolution: return convolution(operation, inputs, 1);
      case OperationKind::depthwise: return convolution(operation, inputs, operation.channels);
      case OperationKind::softmax: return softmax(operation, inputs);
      case OperationKind::layer_norm: return layer_norm(operation, inputs);
      case OperationKind::exponential: return elementwise(operation, inputs, dnnl::algorithm::eltwise_exp);
      case OperationKind::tangent: return elementwise(operation, inputs, dnnl::algorithm::eltwise_tanh);
      case OperationKind::sigmoid: return elementwise(operation, inputs, dnnl::algorithm::eltwise_logistic);
      case OperationKind::add:
      case OperationKind::broadcast_add:
      case OperationKind::batch_norm_relu:
      case OperationKind::max_pool: break;  // compared with a copy
    }
    return nullptr;
  }

 private:
  template <class Primitive>
  std::unique_ptr<DnnlKernel> make(const typename Primitive::primitive_desc& descriptor) const {
    return std::make_unique<DnnlKernel>(engine_, Primitive(descriptor), descriptor.impl_info_str());
  }

  std::unique_ptr<PeerKernel> gemm(const Operation& o, const std::vector<const void*>& inputs) const {
    const Type in = o.numbers == Numbers::f32 ? Type::f32 : o.numbers == Numbers::bf16 ? Type::bf16 : Type::s8;
    const memory::desc a({o.m, o.k}, in, Tag::ab), b({o.k, o.n}, in, Tag::ab);
    const memory::desc c({o.m, o.n}, o.numbers == Numbers::i8 ? Type::s32 : Type::f32, Tag::ab);
    const memory::desc weights = o.constant_weights ? memory::desc({o.k, o.n}, in, Tag::any) : b;
    const auto descriptor = describe<dnnl::matmul>(engine_, a, weights, c);
    auto kernel = make<dnnl::matmul>(descriptor);
    kernel->add_input(DNNL_ARG_SRC, a, a, inputs[0]);
    kernel->add_input(DNNL_ARG_WEIGHTS, b, descriptor.weights_desc(), inputs[1]);
    kernel->set_output(c, c);
    return kernel;
  }

  std::unique_ptr<PeerKernel> convolution(const Operation& o, const std::vector<const void*>& inputs,
                                          std::int64_t groups) const {
    const std::int64_t filters = groups == 1 ? o.filters : o.channels;
    const Dims image{1, o.channels, o.size, o.size}, result{1, filters, o.size, o.size};
    const Dims filter = groups == 1 ? Dims{filters, o.channels, 3, 3} : Dims{groups, 1, 1, 3, 3};
    const Tag image_tag = o.own_layout ? Tag::any : Tag::nchw;
    const memory::desc plain_image(image, Type::f32, Tag::nchw), plain_result(result, Type::f32, Tag::nchw);
    const memory::desc plain_filter(filter, Type::f32, groups == 1 ? Tag::oihw : Tag::goihw);
    const auto descriptor = describe<dnnl::convolution_forward>(
        engine_, dnnl::prop_kind::forward_inference,
        o.winograd_tile != 0 ? dnnl::algorithm::convolution_winograd : dnnl::algorithm::convolution_direct,
        memory::desc(image, Type::f32, image_tag), memory::desc(filter, Type::f32, Tag::any),
        memory::desc(result, Type::f32, image_tag), Dims{1, 1}, Dims{1, 1}, Dims{1, 1});
    auto kernel = make<dnnl::convolution_forward>(descriptor);
    kernel->add_input(DNNL_ARG_SRC, plain_image, descriptor.src_desc(), inputs[0]);
    kernel->add_input(DNNL_ARG_WEIGHTS, plain_filter, descriptor.weights_desc(), inputs[1]);
    kernel->set_output(plain_result, descriptor.dst_desc());
    return kernel;
  }

  std::unique_ptr<PeerKernel> softmax(const Operation& o, const std::vector<const void*>& inputs) const {
    const memory::desc rows({o.m, o.n}, Type::f32, Tag::ab);
#if FERRY_DNNL_3
    const auto descriptor = describe<dnnl::softmax_forward>(engine_, dnnl::prop_kind::forward_inference,
                                                            dnnl::algorithm::softmax_accurate, rows, rows, 1);
#else
    const auto descriptor = describe<dnnl::softmax_forward>(engine_, dnnl::prop_kind::forward_inference, rows, 1);
#endif
    auto kernel = make<dnnl::softmax_forward>(descriptor);
    kernel->add_input(DNNL_ARG_SRC, rows, rows, inputs[0]);
    kernel->set_output(rows, rows);
    return kernel;
  }

  std::unique_ptr<PeerKernel> layer_norm(const Operation& o, const std::vector<const void*>& inputs) const {
    const memory::desc rows({o.m, o.n}, Type::f32, Tag::ab), row({o.n}, Type::f32, Tag::a);
    const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
#if FERRY_DNNL_3
    const auto descriptor = describe<dnnl::layer_normalization_forward>(engine_, dnnl::prop_kind::forward_inference,
                                                                        rows, rows, 1e-5F, flags);
#else
    const auto descriptor =
        describe<dnnl::layer_normalization_forward>(engine_, dnnl::prop_kind::forward_inference, rows, 1e-5F, flags);
#endif
    auto kernel = make<dnnl::layer_normalization_forward>(descriptor);
    kernel->add_input(DNNL_ARG_SRC, rows, rows, inputs[0]);
    kernel->add_input(DNNL_ARG_SCALE, row, row, inputs[1]);
    kernel->add_input(DNNL_ARG_SHIFT, row, row, inputs[2]);
    kernel->set_output(rows, rows);
    return kernel;
  }

  std::unique_ptr<PeerKernel> elementwise(const Operation& o, const std::vector<const void*>& inputs,
                                          dnnl::algorithm algorithm) const {
    const memory::desc all({o.n}, Type::f32, Tag::a);
#if FERRY_DNNL_3
    const auto descriptor =
        describe<dnnl::eltwise_forward>(engine_, dnnl::prop_kind::forward_inference, algorithm, all, all, 0.0F, 0.0F);
#else
    const auto descriptor =
        describe<dnnl::eltwise_forward>(engine_, dnnl::prop_kind::forward_inference, algorithm, all, 0.0F, 0.0F);
#endif
    auto kernel = make<dnnl::eltwise_forward>(descriptor);
    kernel->add_input(DNNL_ARG_SRC, all, all, inputs[0]);
    kernel->set_output(all, all);
    return kernel;
  }

  dnnl::engine engine_;
};

}  // namespace
}  // namespace ferry::bench

extern "C" __attribute__((visibility("default"))) ferry::bench::Peer* ferry_bench_peer() {
  return new ferry::bench::Dnnl();
}
