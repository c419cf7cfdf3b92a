# -DCMAKE_TOOLCHAIN_FILE=$HEXAGON_SDK_ROOT/build/cmake/hexagon_toolchain.cmake: skels for the rig, by the wrappers of tools/Tools/bin.
if(HEXAGON_TOOLCHAIN_INCLUDED)
    return()
endif()
set(HEXAGON_TOOLCHAIN_INCLUDED true)

get_filename_component(HEXAGON_SDK_ROOT "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(HEXAGON_TOOLS_ROOT "${HEXAGON_SDK_ROOT}/tools")
set(HEXAGON_TOOLCHAIN "${HEXAGON_TOOLS_ROOT}")
include("${CMAKE_CURRENT_LIST_DIR}/hexagon_arch.cmake")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DSP_VERSION DSP_ARCH)

set(HEXAGON TRUE)
set(CMAKE_SYSTEM_NAME QURT)
set(CMAKE_SYSTEM_PROCESSOR Hexagon)
set(CMAKE_C_COMPILER "${HEXAGON_TOOLS_ROOT}/Tools/bin/hexagon-clang")
set(CMAKE_CXX_COMPILER "${HEXAGON_TOOLS_ROOT}/Tools/bin/hexagon-clang++")
set(CMAKE_ASM_COMPILER "${HEXAGON_TOOLS_ROOT}/Tools/bin/hexagon-clang")
set(CMAKE_AR "${HEXAGON_TOOLS_ROOT}/Tools/bin/hexagon-ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${HEXAGON_TOOLS_ROOT}/Tools/bin/hexagon-ranlib" CACHE FILEPATH "")

set(RTOS_DIR "${HEXAGON_SDK_ROOT}/rtos/qurt/compute${V_ARCH}")
include_directories(SYSTEM
    "${HEXAGON_SDK_ROOT}/incs"
    "${HEXAGON_SDK_ROOT}/ipc/fastrpc/incs"
    "${RTOS_DIR}/include/qurt")

foreach(language C CXX)
    set(CMAKE_${language}_FLAGS_INIT "-m${V_ARCH} -mhvx=${V_ARCH} -fPIC")
    set(CMAKE_SHARED_LIBRARY_SONAME_${language}_FLAG "-Wl,-soname,")
    set(CMAKE_${language}_CREATE_SHARED_LIBRARY
        "<CMAKE_${language}_COMPILER> -shared -o <TARGET> <SONAME_FLAG><TARGET_SONAME> <LINK_FLAGS> <OBJECTS> <LINK_LIBRARIES>")
endforeach()
