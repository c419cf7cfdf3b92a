# The functions by which CMake files of a Hexagon SDK are written; here the host is this machine, and the DSP a rig on it.
#   build_idl(FILE.idl TARGET)             FILE.h, INTERFACE_stub.c, INTERFACE_skel.c in the current binary folder, before TARGET
#   choose_dsprpc(DOMAIN VARIABLE)         the name of the client library for a domain
#   link_custom_library(TARGET NAME)       links TARGET with a library of the SDK's: cdsprpc and rpcmem are libcdsprpc.so
#   link_options(TARGET)                   nothing more is needed
#   copy_binaries(TARGET)                  puts TARGET into ship/ of the binary folder
#   runHexagonSim(TARGET)                  refused: there is no simulator
get_filename_component(HEXAGON_SDK_ROOT "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
get_filename_component(hexrig_PREFIX "${HEXAGON_SDK_ROOT}/../../.." ABSOLUTE)
include("${CMAKE_CURRENT_LIST_DIR}/hexagon_arch.cmake")

set(HEXRIG_QAIC "${HEXAGON_SDK_ROOT}/ipc/fastrpc/qaic/bin/qaic")
set(HEXRIG_CDSPRPC "${hexrig_PREFIX}/lib/libcdsprpc.so")

function(build_idl idl target)
    get_filename_component(path "${idl}" ABSOLUTE)
    get_filename_component(name "${idl}" NAME_WE)
    set(out "${CMAKE_CURRENT_BINARY_DIR}")
    add_custom_command(
        OUTPUT "${out}/${name}.h" "${out}/${name}_stub.c" "${out}/${name}_skel.c"
        COMMAND "${HEXRIG_QAIC}" -mdll -o "${out}" "${path}"
        DEPENDS "${path}"
        COMMENT "qaic ${name}.idl"
        VERBATIM)
    add_custom_target("${target}_${name}_idl" DEPENDS "${out}/${name}.h" "${out}/${name}_stub.c" "${out}/${name}_skel.c")
    add_dependencies("${target}" "${target}_${name}_idl")
    target_include_directories("${target}" PRIVATE "${out}")
endfunction()

function(choose_dsprpc domain result)
    set("${result}" cdsprpc PARENT_SCOPE)
endfunction()

function(link_custom_library target library)
    if("${library}" MATCHES "^(cdsprpc|adsprpc|sdsprpc|rpcmem)$")
        target_link_libraries("${target}" "${HEXRIG_CDSPRPC}")
    elseif(NOT "${library}" MATCHES "^(atomic|qprintf|worker_pool|pthread)$")
        message(FATAL_ERROR "hexrig has no library ${library} of a Hexagon SDK")
    endif()
endfunction()

function(link_options target)
endfunction()

function(copy_binaries target)
    add_custom_command(TARGET "${target}" POST_BUILD
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_BINARY_DIR}/ship"
        COMMAND "${CMAKE_COMMAND}" -E copy "$<TARGET_FILE:${target}>" "${CMAKE_BINARY_DIR}/ship"
        VERBATIM)
endfunction()

function(runHexagonSim target)
    message(FATAL_ERROR "runHexagonSim(${target}): there is no simulator; the skel runs in a rig")
endfunction()
