#include "module/manifest_check.h"

#include <algorithm>

#include "base/format.h"
#include "base/printable.h"
#include "module/blob_layout.h"

namespace ferry {
namespace manifest_check {

Status refuse(const std::string& where, const std::string& reason) {
  return Status(ErrorCode::invalid_argument, (where.empty() ? "manifest: " : "manifest: " + where + ": ") + reason);
}

Status check_count(const std::string& where, const char* what, std::size_t count, std::size_t most) {
  if (count <= most) return Status();
  return refuse(where, format("expected at most %zu %s, got %zu", most, what, count));
}

namespace {

Status check_text(const std::string& where, const char* what, const std::string& text, std::size_t least,
                  std::size_t most) {
  if (text.size() < least || text.size() > most) {
    return refuse(where, format("%s: expected %zu to %zu bytes, got %zu", what, least, most, text.size()));
  }
  const std::string shown = printable(text);
  if (shown != text) {
    return refuse(where, std::string(what) + ": expected UTF-8 without control characters, got '" + shown + "'");
  }
  return Status();
}

}  // namespace

Status check_name(const std::string& where, const char* what, const std::string& name) {
  return check_text(where, what, name, 1, kMaxNameBytes);
}

Status check_expr(const std::string& where, const char* what, const ManifestExpr& expr, std::size_t symbol_count) {
  const Status status = check_manifest_expr(expr, symbol_count);
  return status.is_ok() ? status : refuse(where, std::string(what) + ": " + status.message());
}

namespace {

Status check_optional_expr(const std::string& where, const char* what, const ManifestExpr& expr, std::size_t symbols) {
  return expr.code.empty() ? Status() : check_expr(where, what, expr, symbols);
}

template <class Items, class Name>
Status check_distinct(const std::string& where, const char* what, const Items& items, Name name) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (name(items[i]) == name(items[j])) {
        return refuse(where,
                      std::string("expected ") + what + " with different names, got two '" + name(items[i]) + "'");
      }
    }
  }
  return Status();
}

Status check_parameter(const std::string& function, const ParameterInfo& parameter, std::size_t symbol_count,
                       std::size_t device_count) {
  FERRY_TRY(check_name(function, "parameter name", parameter.name));
  const std::string where = function + ": parameter '" + parameter.name + "'";
  if (!is_valid_dtype(static_cast<std::uint8_t>(parameter.dtype))) return refuse(where, "expected a known dtype");
  const auto direction = static_cast<unsigned>(parameter.direction);
  if (direction < 1 || direction > 3) return refuse(where, "expected in, out or inout");
  if (parameter.device >= device_count) {
    return refuse(where, format("expected a device below %zu, got %u", device_count, parameter.device));
  }
  if (parameter.is_constant && (parameter.kind != ParameterKind::tensor || parameter.direction != Direction::in)) {
    return refuse(where, "expected a constant to be an input tensor");
  }
  if (parameter.kind == ParameterKind::scalar) {
    if (parameter.direction != Direction::in) return refuse(where, "expected a scalar to be in");
    if (!parameter.shape.empty() || !parameter.strides.empty()) return refuse(where, "expected a scalar without sizes");
    return Status();
  }
  if (parameter.kind != ParameterKind::tensor) return refuse(where, "expected a tensor or a scalar");
  FERRY_TRY(check_count(where, "dimensions", parameter.shape.size(), kMaxRank));
  if (!parameter.strides.empty() && parameter.strides.size() != parameter.shape.size()) {
    return refuse(where, format("expected %zu strides, got %zu", parameter.shape.size(), parameter.strides.size()));
  }
  for (const ManifestExpr& size : parameter.shape) FERRY_TRY(check_expr(where, "size", size, symbol_count));
  for (const ManifestExpr& stride : parameter.strides) FERRY_TRY(check_expr(where, "stride", stride, symbol_count));
  return Status();
}

bool binds(const ParameterInfo& parameter, const std::string& symbol, std::uint32_t index) {
  if (parameter.kind == ParameterKind::scalar) return parameter.dtype == DType::i64 && parameter.name == symbol;
  if (parameter.direction == Direction::out) return false;
  return std::find(parameter.shape.begin(), parameter.shape.end(), manifest_symbol(index)) != parameter.shape.end();
}

Status check_function(const Manifest& manifest, const FunctionInfo& function) {
  FERRY_TRY(check_name("", "function name", function.name));
  const std::string& where = function.name;
  FERRY_TRY(check_count(where, "symbols", function.symbols.size(), kMaxSymbols));
  FERRY_TRY(check_count(where, "parameters", function.parameters.size(), kMaxParameters));
  FERRY_TRY(check_count(where, "preconditions", function.preconditions.size(), kMaxPreconditions));
  FERRY_TRY(check_count(where, "messages", function.messages.size(), kMaxMessages));

  const std::size_t symbols = function.symbols.size();
  for (const std::string& symbol : function.symbols) FERRY_TRY(check_name(where, "symbol name", symbol));
  for (const ParameterInfo& parameter : function.parameters) {
    FERRY_TRY(check_parameter(where, parameter, symbols, manifest.devices.size()));
  }
  FERRY_TRY(check_distinct(where, "symbols", function.symbols, [](const std::string& name) { return name; }));
  FERRY_TRY(check_distinct(where, "parameters", function.parameters, [](const ParameterInfo& p) { return p.name; }));
  for (std::uint32_t i = 0; i < symbols; ++i) {
    const bool bound = std::any_of(function.parameters.begin(), function.parameters.end(),
                                   [&](const ParameterInfo& p) { return binds(p, function.symbols[i], i); });
    if (!bound) {
      return refuse(
          where, "expected symbol '" + function.symbols[i] + "' to be a size of an input or an i64 scalar parameter");
    }
  }
  for (const Precondition& precondition : function.preconditions) {
    FERRY_TRY(check_expr(where, "precondition", precondition.condition, symbols));
    FERRY_TRY(check_text(where, "precondition's message", precondition.message, 0, kMaxMessageBytes));
  }
  for (const std::string& message : function.messages) {
    FERRY_TRY(check_text(where, "message", message, 0, kMaxMessageBytes));
  }
  FERRY_TRY(check_optional_expr(where, "arithmetic", function.flops, symbols));
  return check_plans(manifest, function);
}

Status check_device(const ModuleDevice& device) {
  FERRY_TRY(check_name("", "kind of device", device.kind));
  FERRY_TRY(check_text("", "architecture", device.arch, device.kind == "cpu" ? 1 : 0, kMaxNameBytes));
  FERRY_TRY(check_count("", "features", device.features.size(), kMaxFeatures));
  for (const std::string& feature : device.features) FERRY_TRY(check_name("", "feature name", feature));
  if (std::is_sorted(device.features.begin(), device.features.end())) return Status();
  return refuse("", "expected sorted features");
}

Status check_constants(const Manifest& manifest) {
  FERRY_TRY(check_count("", "blobs", manifest.blobs.size(), kMaxBlobs));
  FERRY_TRY(check_count("", "constants", manifest.constants.size(), kMaxConstants));
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  for (const Blob& blob : manifest.blobs) {
    if (blob.bytes >= 1 && blob.bytes <= kMaxBlobBytes) continue;
    return refuse("",
                  format("expected a blob of 1 to %llu bytes, got %llu", number(kMaxBlobBytes), number(blob.bytes)));
  }
  for (const Constant& constant : manifest.constants) {
    if (constant.blob >= manifest.blobs.size()) {
      return refuse("",
                    format("expected a constant of a blob below %zu, got %u", manifest.blobs.size(), constant.blob));
    }
    if (constant.device >= manifest.devices.size()) {
      return refuse(
          "", format("expected a constant on a device below %zu, got %u", manifest.devices.size(), constant.device));
    }
    const std::uint64_t size = manifest.blobs[constant.blob].bytes;
    if (constant.offset > size || constant.bytes > size - constant.offset) {
      return refuse("", format("expected a constant inside of its blob of %llu bytes, got %llu bytes from %llu on",
                               number(size), number(constant.bytes), number(constant.offset)));
    }
    if (constant.offset % kBlobAlignment != 0) {
      return refuse("", format("expected a constant at a multiple of %llu bytes, got one at %llu",
                               number(kBlobAlignment), number(constant.offset)));
    }
  }
  return Status();
}

}  // namespace
}  // namespace manifest_check

Status check_manifest(const Manifest& manifest) {
  using namespace manifest_check;
  if (manifest.devices.empty()) return refuse("", "expected a device, got none");
  FERRY_TRY(check_count("", "devices", manifest.devices.size(), kMaxDevices));
  for (const ModuleDevice& device : manifest.devices) FERRY_TRY(check_device(device));
  FERRY_TRY(check_text("", "target", manifest.target, 0, kMaxMessageBytes));
  FERRY_TRY(check_constants(manifest));
  FERRY_TRY(check_count("", "functions", manifest.functions.size(), kMaxFunctions));
  for (const FunctionInfo& function : manifest.functions) FERRY_TRY(check_function(manifest, function));
  return check_distinct("", "functions", manifest.functions, [](const FunctionInfo& f) { return f.name; });
}

}  // namespace ferry
