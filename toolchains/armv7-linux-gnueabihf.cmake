# 32-bit ARM, hard float: Raspberry Pi 2 and later with a 32-bit system. The server itself needs no NEON.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++)
set(CMAKE_C_FLAGS_INIT "-march=armv7-a+fp -mthumb")
set(CMAKE_CXX_FLAGS_INIT "-march=armv7-a+fp -mthumb")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-arm;-cpu;cortex-a7)
