#!/bin/sh
# Every header that clients and skels see compiles alone, without a warning.  Usage: headers.sh BUILD (unused)
set -eu
cd "$(dirname "$0")/../.."
n=0
for h in host/api/hexrig.h rpc/include/*.h rpc/wire/*.h rpc/queue/*.h rpc/block/*.h dsp/include/*.h dsp/include/hexrig/*.h; do
    [ -f "$h" ] || continue
    ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wno-psabi -Werror \
        -Irpc/include -Irpc/wire -Irpc/queue -Irpc/block -Idsp/include -Idsp/include/hexrig -fsyntax-only -include "$h" -x c /dev/null || {
        echo "headers: $h does not compile alone" >&2
        exit 1
    }
    n=$((n + 1))
done

# what starts as an initialiser of hexrig.h, in C and C++, with every warning
init='struct hexrig_config cfg = HEXRIG_CONFIG_INIT;
int is_its_size(void);
int is_its_size(void) { return cfg.size == sizeof(cfg) && !cfg.model && !cfg.options; }'
for std in c99 c11 gnu11; do
    echo "$init" | ${CC:-gcc} -std=$std -pedantic -Wall -Wextra -Werror -fsyntax-only -include host/api/hexrig.h -x c -
done
if command -v g++ >/dev/null; then
    for std in c++11 c++17 c++20; do
        echo "$init" | g++ -std=$std -pedantic -Wall -Wextra -Werror -fsyntax-only -include host/api/hexrig.h -x c++ -
    done
else
    echo "no g++: hexrig.h was compiled as C only"
fi
echo "$n headers"
