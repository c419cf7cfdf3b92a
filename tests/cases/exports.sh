#!/bin/sh
# libcdsprpc.so exports the published names and hexrig's own hx_rig_*, and nothing else.  Usage: exports.sh BUILD
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
nm -D --defined-only "$1/lib/libcdsprpc.so" | awk '{ print $3 }' | sort >"$dir/have"
cat >"$dir/want" <<'END'
fastrpc_mmap
fastrpc_munmap
hx_rig_configure
hx_rig_connect
hx_rig_disconnect
hx_rig_down
hx_rig_front_end
hx_rig_profile
hx_rig_read
hx_rig_session_stats
hx_rig_up
remote_handle64_close
remote_handle64_invoke
remote_handle64_open
remote_session_control
rpcmem_alloc
rpcmem_alloc2
rpcmem_deinit
rpcmem_free
rpcmem_init
rpcmem_to_fd
END
diff "$dir/want" "$dir/have"
