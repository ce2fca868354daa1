#!/bin/sh
# build.sh - compiles the header of an external model into a shared object:
#
#	sh build.sh HEADER TO INTERFACE INCLUDE
#
# sluice model build calls it. TO is the file to make; "" means NAME.so, and "cache" a file in the
# folder of the user's caches, which is not made again if it exists for the same contents, compilers
# and GPUs. INTERFACE is the version of the files in INCLUDE. Those that are compiled once for each
# model (see stages/models/rules.h) are compiled with HEADER, for each CPU level, for the emulated
# device and, if there is an nvcc, for CUDA. The environment can set CC and NVCC; NVCC= means none.
#
# The last line of stdout is the file, or why it was not made, with exit code 1. Compilers print
# their messages to stderr.
set -u
header=$1 to=$2 interface=$3 include=$4
name=${header##*/}
name=${name%.h}

fail() {
	echo "$1"
	exit 1
}

case $name in
"" | [!a-z]* | *[!a-z0-9_]*)
	fail "a model has the name of its header; use lower-case letters, digits and _, such as my_walk.h" ;;
esac
[ -r "$header" ] || fail "cannot be read; name the header of a model"
header=$(realpath "$header")
cc=${CC:-cc}
command -v "$cc" >/dev/null || fail "no compiler $cc was found; install gcc and g++, or name another in CC"
nvcc=${NVCC-$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc)}
objects=$(mktemp -d) || fail "no temporary folder could be made; free space or set TMPDIR"
trap 'rm -rf "$objects"' EXIT

# Same bits everywhere: no contraction of a*b+c. A large struct of vectors stays in registers.
flags="-O3 -fPIC -fvisibility=hidden"
cflags="$flags -ffp-contract=off -std=gnu17 -D_GNU_SOURCE"
"$cc" --version | grep -q clang || cflags="$cflags --param=sra-max-scalarization-size-Ospeed=4096"
cxxflags="$flags -ffp-contract=off -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics -D_GNU_SOURCE"

# compile COMPILER OPTION...: with the macros of stages/models/rules.h
compile() {
	"$@" -I"$include" -DSL_MODEL_NAME="$name" "-DSL_MODEL_HEADER=\"$header\"" \
		"-DSL_MODEL_INTERFACE=\"$interface\"" "-DSL_MODEL_DIGEST=\"${digest-}\""
}

# The digest of the interface and of the user's sources: all that are not those of the program.
compile "$cc" $cflags -MM "$include/stages/model_table.c" >"$objects/rule" || fail "does not compile; correct it"
digest=$(sed -e '1s/^[^:]*://' -e 's/\\$//' -e 's/\([^\\]\) /\1\n/g' "$objects/rule" | sed -e 's/^ *//' -e 's/\\ / /g' |
	while IFS= read -r file; do
		case $file in
		"" | "$include"/primitives/* | "$include"/stages/*) ;;
		*) cat "$file" ;;
		esac
	done | (echo "$interface $name"; cat) | sha256sum | cut -c1-16)
if [ "$to" = cache ]; then
	folder=${XDG_CACHE_HOME:-$HOME/.cache}/sluice/models
	# Machines that share the folder can have other GPUs, for which nvcc compiles other code.
	built=$( (echo "$cc $nvcc ${NVCC_APPEND_FLAGS-}"; nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null) |
		sha256sum | cut -c1-8)
	to=$folder/$name-$digest-$built.so
	if [ -e "$to" ]; then
		echo "$to"
		exit
	fi
	mkdir -p "$folder" || fail "the folder $folder could not be made"
fi
to=${to:-$name.so}
[ "${to%.so}" != "$to" ] || fail "$to does not end in .so, so it may be a source file; name one that does"
[ -w "$(dirname "$to")" ] || fail "$to cannot be made in its folder; name another file after the header"

# start COMMAND...: at the same time as others, one per core. finish: waits for them.
cores=$(getconf _NPROCESSORS_ONLN)
jobs= n=0
finish() {
	for job in $jobs; do
		wait "$job" && continue
		wait
		fail "does not compile; see the messages of the compiler, and correct it"
	done
	jobs=
}
start() {
	n=$((n + 1))
	compile "$@" -o "$objects/$n.o" &
	jobs="$jobs $!"
	[ $((n % cores)) != 0 ] || finish
}

levels="baseline:1:"
case $(uname -m) in
x86_64) levels="$levels x86_64_v3:8:-march=x86-64-v3 x86_64_v4:16:-march=x86-64-v4" ;;
aarch64) levels="$levels neon:4:" ;;
esac
kernels="fused/select fused/gather_rows counting/score generate advance"
for file in $kernels; do
	start "$cc" -x c++ $cxxflags -DSL_EMULATED -c "$include/stages/$file.cu"
done
for level in $levels; do
	lanes=${level#*:}
	for file in generate advance; do
		start "$cc" $cflags ${lanes#*:} -DSL_LEVEL="${level%%:*}" -DSL_LEVEL_LANES="${lanes%%:*}" -c "$include/stages/$file.c"
	done
done
start "$cc" $cflags ${nvcc:+-DSL_WITH_CUDA} -c "$include/stages/model_table.c"
for file in ${nvcc:+$kernels}; do
	start "$nvcc" -arch=native -O3 -std=c++20 -fmad=false -Xcompiler=-fPIC,-fvisibility=hidden -c "$include/stages/$file.cu"
done
finish

# nvcc adds its runtime library, whose symbols stay inside the object.
link="$cc -Wl,-z,relro,-z,now"
[ -z "$nvcc" ] || link="$nvcc -Xlinker=--exclude-libs=ALL,-Bsymbolic"
$link -shared -o "$objects/model.so" "$objects"/*.o -lm && cp "$objects/model.so" "$to.$$" && mv -f "$to.$$" "$to" ||
	fail "$to could not be made; name another file after the header"
echo "$to"
