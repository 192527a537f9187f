#include "host/graph/onnx/advice.h"

#include <string_view>

namespace ferry::graph::onnx {
namespace {

// Advice about the operators of a domain whose names begin so. The first row that fits counts.
struct Row {
  std::string_view domain, begin, advice;
};

constexpr std::string_view kRandom = "make the random numbers an input of the network";
constexpr std::string_view kOutside = "let the network end before it, and do this step in the program that calls it";
constexpr std::string_view kBefore = "do this step in the program that calls the network, and make its result an input";
constexpr std::string_view kSearch =
    "export the encoder and the decoder alone, and choose the tokens in the program that calls them";
constexpr std::string_view kLists = "export the model without lists of tensors and optional ones";

constexpr Row kRows[] = {
    {"", "Bernoulli", kRandom},
    {"", "Multinomial", kRandom},
    {"", "Random", kRandom},
    {"", "RoiAlign", kOutside},
    {"", "BitCast", "cast with Cast instead, or do this step in the program that calls the network"},
    {"", "DeformConv",
     "export the model with torchvision.ops.deform_conv2d replaced by GridSample at the moved places and a Conv"},
    {"", "Det", "write the determinant of small matrices as products and differences of their elements"},
    {"", "ImageDecoder", kBefore},
    {"", "MelWeightMatrix", "compute this constant when the model is exported"},
    {"", "RegexFullMatch", kBefore},
    {"", "String", kBefore},
    {"", "TfIdfVectorizer", kBefore},
    {"", "ConcatFromSequence", kLists},
    {"", "Optional", kLists},
    {"", "Sequence", kLists},
    {"", "SplitToSequence", "split with Split instead, into a known number of parts"},
    {"ai.onnx.ml", "CastMap", kBefore},
    {"ai.onnx.ml", "DictVectorizer", kBefore},
    {"ai.onnx.ml", "", "convert the model so that it consists of operators of ai.onnx, as Hummingbird does"},
    {"ai.onnx.preview.training", "", "export the network for inference"},
    {"com.microsoft.nchwc", "",
     "save the model with ONNX Runtime's optimizations up to ORT_ENABLE_EXTENDED, which do not change layouts"},
    {"com.microsoft", "BeamSearch", kSearch},
    {"com.microsoft", "DecoderMasked", "export the decoder with MultiHeadAttention and caches of their own"},
    {"com.microsoft", "EmbedLayerNormalization", "optimize the model with --disable_embed_layer_norm"},
    {"com.microsoft", "GreedySearch", kSearch},
    {"com.microsoft", "Packed", "take the model as it is before its conversion to packing mode"},
    {"com.microsoft", "PagedAttention", "export the decoder with GroupQueryAttention"},
    {"com.microsoft", "QAttention", "optimize the model with --disable_attention before it is quantized"},
    {"com.microsoft", "Sampling", kSearch},
    {"com.microsoft", "WhisperBeamSearch", kSearch},
    {"com.microsoft", "",
     "save the model without ONNX Runtime's optimizations (ORT_DISABLE_ALL), and quantize it to the format QDQ"},
    {"ai.onnx.preview", "", "expand it to the nodes that define it, which onnx.inliner does"},
};

}  // namespace

std::string advice_about(const std::string& domain, const std::string& op) {
  for (const Row& row : kRows)
    if (domain == row.domain && op.starts_with(row.begin)) return std::string(row.advice);
  if (domain.empty()) return "";
  return "give the model a function of this name that defines it, or export it with operators of ai.onnx";
}

}  // namespace ferry::graph::onnx
