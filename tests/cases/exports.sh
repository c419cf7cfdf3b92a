#!/bin/sh
# libcdsprpc.so exports the published names, hexrig's own hx_rig_* and hx_farf, and nothing else; no name but one has a version.  Usage: exports.sh BUILD
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
nm -D --defined-only "$1/lib/libcdsprpc.so" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort >"$dir/have"
cat >"$dir/want" <<'END'
HAP_debug_runtime
HAP_debug_v2
dspqueue_close
dspqueue_create
dspqueue_export
dspqueue_get_stat
dspqueue_import
dspqueue_peek
dspqueue_peek_noblock
dspqueue_read
dspqueue_read_noblock
dspqueue_request
dspqueue_write
dspqueue_write_early_wakeup_noblock
dspqueue_write_noblock
fastrpc_async_get_status
fastrpc_mmap
fastrpc_munmap
fastrpc_release_async_job
hx_farf
hx_rig_configure
hx_rig_connect
hx_rig_device
hx_rig_disconnect
hx_rig_down
hx_rig_front_end
hx_rig_own_clock
hx_rig_profile
hx_rig_read
hx_rig_read_why
hx_rig_session_stats
hx_rig_up
hx_rig_write
remote_handle64_close
remote_handle64_control
remote_handle64_invoke
remote_handle64_invoke_async
remote_handle64_open
remote_handle_close
remote_handle_control
remote_handle_invoke
remote_handle_invoke_async
remote_handle_open
remote_mem_map
remote_mem_unmap
remote_mmap
remote_mmap64
remote_munmap
remote_munmap64
remote_register_buf
remote_register_buf_attr
remote_register_buf_attr2
remote_register_dma_handle
remote_register_dma_handle_attr
remote_register_fd
remote_register_fd2
remote_session_control
remote_set_mode
remote_system_request@@HEXRIG_2
remote_system_request@HEXRIG_1
rpcmem_alloc
rpcmem_alloc2
rpcmem_deinit
rpcmem_free
rpcmem_init
rpcmem_to_fd
END
diff "$dir/want" "$dir/have"
