# Defines libferry.so, libferry_client.so and what `cmake --install` installs: the programs in bin, the rpc_servers in libexec/ferry, the
# headers in include/ferry and the files that find_package(ferry) reads. Included once all libraries of the host are
# defined.

include(CMakePackageConfigHelpers)

# ferry_shared_library(TARGET NAME LIBRARIES ... SYSTEM_DEPS ...) makes libNAME.so of static libraries and installs it as
# ferry::NAME.
function(ferry_shared_library target name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBRARIES;SYSTEM_DEPS")
  list(TRANSFORM arg_LIBRARIES REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(${target} SHARED ${objects})
  target_link_libraries(${target} PRIVATE ${arg_SYSTEM_DEPS} Threads::Threads)
  # lld and libsodium are linked in but must not be exported.
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL LINKER:--as-needed LINKER:--gc-sections
    LINKER:-z,keep-text-section-prefix)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  set_target_properties(${target} PROPERTIES
    FERRY_SELF_CONTAINED ON OUTPUT_NAME ${name} EXPORT_NAME ${name}
    # One file, without the patch's number: wheels contain no links.
    VERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  install(TARGETS ${target} EXPORT ferry LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

get_property(libraries GLOBAL PROPERTY FERRY_LIBRARIES)
get_property(system_deps GLOBAL PROPERTY FERRY_SYSTEM_DEPS)
list(REMOVE_DUPLICATES system_deps)
# Devices of this process (inproc://) have no GPUs, are served by nobody and belong to no farm.
list(REMOVE_ITEM libraries ferry_device_cuda ferry_device_opencl ferry_device_session ferry_device_supervisor
  ferry_farm_board)
ferry_shared_library(ferry_shared ferry LIBRARIES ${libraries} SYSTEM_DEPS ${system_deps})
target_sources(ferry_shared PRIVATE "${PROJECT_SOURCE_DIR}/packaging/older/random.cpp"
  "${PROJECT_SOURCE_DIR}/packaging/older/wait.cpp")
# For programs that only run modules: it needs no LLVM. libferry contains all of it too.
ferry_shared_library(ferry_client_shared ferry_client
  LIBRARIES ferry_base ferry_module ferry_rpc_transport ferry_rpc_wire ferry_rpc_secure ferry_stats ferry_npy ferry_blobs
    ferry_connect ferry_session
    ferry_farm_protocol_lease ferry_farm_protocol ferry_farm_client ferry_client_api
    ferry_device_emulator ferry_device_measure ferry_device_facts ferry_device_threads ferry_device_loader
    ferry_device_device ferry_device_plan ferry_device_broker ferry_device_sandbox ferry_device_runner
    ferry_device_session_state ferry_device_handlers ferry_device_in_process ferry_in_process
  SYSTEM_DEPS ferry_sodium)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/ferry" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

# scripts/build.sh builds these before the host; without them only the host is installed.
foreach(arch x86_64 armv7 aarch64 riscv64)
  foreach(flavour dynamic static)
    install(PROGRAMS "${PROJECT_SOURCE_DIR}/build/device/${arch}/${flavour}/rpc_server"
      DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/ferry/${arch}/${flavour}" OPTIONAL)
  endforeach()
endforeach()

# Adapts the path for this machine's own server. A board uses the file unchanged, with /usr/local/bin/rpc_server.
install(CODE "
  file(READ \"${PROJECT_SOURCE_DIR}/packaging/systemd/rpc_server.service\" unit)
  string(REPLACE /usr/local/bin/rpc_server
    \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBEXECDIR}/ferry/${FERRY_ARCH}/dynamic/rpc_server\" unit \"\${unit}\")
  file(WRITE \"${PROJECT_BINARY_DIR}/install/rpc_server.service\" \"\${unit}\")
")
install(FILES "${PROJECT_BINARY_DIR}/install/rpc_server.service" DESTINATION lib/systemd/system)
install(FILES "${PROJECT_SOURCE_DIR}/packaging/systemd/rpc_server.sysusers" DESTINATION lib/sysusers.d
  RENAME rpc_server.conf)

# The tracker of a farm needs the compiler.
if(FERRY_COMPILER)
  install(CODE "
    file(READ \"${PROJECT_SOURCE_DIR}/packaging/systemd/ferry-farm.service\" unit)
    string(REPLACE /usr/local/bin/ferry \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/ferry\" unit \"\${unit}\")
    file(WRITE \"${PROJECT_BINARY_DIR}/install/ferry-farm.service\" \"\${unit}\")
  ")
  install(FILES "${PROJECT_BINARY_DIR}/install/ferry-farm.service" DESTINATION lib/systemd/system)
  install(FILES "${PROJECT_SOURCE_DIR}/packaging/systemd/ferry-farm.sysusers" DESTINATION lib/sysusers.d
    RENAME ferry-farm.conf)
endif()

set(config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/ferry")
install(EXPORT ferry NAMESPACE ferry:: FILE ferryConfig.cmake DESTINATION ${config_folder})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/install/ferryConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/install/ferryConfigVersion.cmake" DESTINATION ${config_folder})
