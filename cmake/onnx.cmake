# protobuf, and FERRY_ONNX_SCHEMA: onnx.proto of PyPI's package onnx, which scripts/setup.sh installs. Only
# host/graph/onnx uses them.

find_package(Protobuf REQUIRED)
file(GLOB FERRY_ONNX_SCHEMA "${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/onnx/onnx.proto")
if(NOT FERRY_ONNX_SCHEMA)
  message(FATAL_ERROR "expected the file onnx/onnx.proto of the Python package onnx in build/venv: run scripts/setup.sh")
endif()
