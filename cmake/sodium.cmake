# The imported target ferry_sodium: the small static libsodium that scripts/libsodium.sh builds for each architecture.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(FERRY_ARCH x86_64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(FERRY_ARCH aarch64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^arm")
  set(FERRY_ARCH armv7)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "riscv64")
  set(FERRY_ARCH riscv64)
else()
  message(FATAL_ERROR "expected x86_64, armv7, aarch64 or riscv64, got '${CMAKE_SYSTEM_PROCESSOR}'")
endif()

set(FERRY_SODIUM_DIR "${PROJECT_SOURCE_DIR}/build/libsodium/${FERRY_ARCH}" CACHE PATH "libsodium of this architecture")
if(NOT EXISTS "${FERRY_SODIUM_DIR}/lib/libsodium.a")
  message(FATAL_ERROR "expected libsodium in ${FERRY_SODIUM_DIR}: run scripts/libsodium.sh ${FERRY_ARCH}")
endif()

add_library(ferry_sodium STATIC IMPORTED)
set_target_properties(ferry_sodium PROPERTIES
  IMPORTED_LOCATION "${FERRY_SODIUM_DIR}/lib/libsodium.a"
  INTERFACE_INCLUDE_DIRECTORIES "${FERRY_SODIUM_DIR}/include"
  INTERFACE_COMPILE_DEFINITIONS SODIUM_STATIC)
