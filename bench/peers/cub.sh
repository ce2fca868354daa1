#!/usr/bin/env bash
# cub.sh - the primitives of sluice against CUB of several CCCL versions on the same GPU.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${PYTHON:-python3}

usage() {
	cat <<'END'
usage: bench/peers/cub.sh [OPTION]... DIR... [-- OPTION_OF_SLUICE_BENCH...]

Builds sluice-bench once for each DIR, with -DSLUICE_BENCH_CCCL=DIR, and runs "sluice-bench primitives" with the same
options for each version of CUB in alternation. sluice-bench checks each answer before it times it. Prints how many
times as fast the backends shared of sluice are: the median of all rounds, the least and the largest.

DIR is a folder with cub/, cuda/ and thrust/, such as the include folder of the Python packages nvidia-cuda-cccl or
cuda-cccl, or that of a clone of CCCL; "toolkit" is the CCCL of the CUDA toolkit.

  --repeat N       rounds (default 5)
  --csv FILE       also write the results to FILE
  --build DIR      folder of the builds (default build/peers)
  --arch LIST      CMAKE_CUDA_ARCHITECTURES (default: native)
  --help           this text

The options after -- default to: --only scan,compact,sort with 2^10 to 2^27 items, in three commands.
Needs cmake, nvcc and a CUDA GPU. Exit codes: 0, 1 (an error), 2 (wrong command line), 77 (something is missing).
END
}

not_run() {
	echo "cub.sh: not run: $*" >&2
	exit 77
}

wrong() {
	echo "cub.sh: $*; see cub.sh --help" >&2
	exit 2
}

repeat=5 csv='' build=$root/build/peers arch=native
dirs=()
options=()
while [ $# -gt 0 ]; do
	case $1 in
	--help)
		usage
		exit 0
		;;
	--repeat | --csv | --build | --arch)
		[ $# -ge 2 ] || wrong "$1 needs a value"
		declare "${1#--}=$2"
		shift
		;;
	--)
		shift
		options=("$@")
		break
		;;
	--*) wrong "unknown option '$1'" ;;
	*) dirs+=("$1") ;;
	esac
	shift
done
[[ $repeat =~ ^[1-9][0-9]*$ ]] || wrong "--repeat '$repeat' is not a whole number of at least 1"
[ ${#dirs[@]} -gt 0 ] || wrong "no DIR is given"
shown=$(printf '%q ' cub.sh --repeat "$repeat" "${dirs[@]}" -- "${options[@]}")

[ -z "$csv" ] || csv=$(realpath -m "$csv")
PATH=$PATH:/usr/local/cuda/bin
for dir in "${dirs[@]}"; do
	[ "$dir" = toolkit ] || [ -e "$dir/cub/version.cuh" ] ||
		not_run "'$dir' has no cub/version.cuh: name the folder that contains cub/, cuda/ and thrust/"
done
for program in cmake nvcc nvidia-smi "$python"; do
	command -v "$program" >/dev/null || not_run "the program $program is missing"
done
nvidia-smi -L >/dev/null 2>&1 || not_run "there is no CUDA GPU"

# The bench of version k of CUB is $build/k/sluice-bench.
for k in "${!dirs[@]}"; do
	cccl=${dirs[k]}
	[ "$cccl" = toolkit ] && cccl='' || cccl=$(cd "$cccl" && pwd)
	mkdir -p "$build/$k"
	{
		cmake -S "$root" -B "$build/$k" -DCMAKE_BUILD_TYPE=Release -DSLUICE_CUDA=ON -DSLUICE_TESTS=OFF \
			-DCMAKE_CUDA_ARCHITECTURES="$arch" -DSLUICE_BENCH_CCCL="$cccl" &&
			cmake --build "$build/$k" -j "$(nproc)" --target sluice_bench
	} >"$build/$k/log" 2>&1 || {
		tail -20 "$build/$k/log" >&2
		echo "cub.sh: error: the build for ${dirs[k]} failed; see $build/$k/log" >&2
		exit 1
	}
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root" # sluice-bench reads data/configs/reference.yaml

# bench ROUND VERSION NUMBER OPTION...: one run of the bench of a version of CUB.
bench() {
	local round=$1 k=$2 number=$3
	shift 3
	"$build/$k/sluice-bench" primitives "$@" --csv "$work/$round-$k-$number.csv" >"$work/log" 2>&1 || {
		tail -20 "$work/log" >&2
		echo "cub.sh: error: sluice-bench primitives $* failed for ${dirs[k]}" >&2
		exit 1
	}
}

sizes=2^10,2^12,2^14,2^16,2^18,2^20,2^22,2^24,2^26,2^27
for ((round = 0; round < repeat; round++)); do
	for k in "${!dirs[@]}"; do
		if [ ${#options[@]} -gt 0 ]; then
			bench $round "$k" 0 "${options[@]}"
		else
			bench $round "$k" 0 --only scan/shared --n $sizes
			bench $round "$k" 1 --only compact/shared --n $sizes
			bench $round "$k" 2 --only sort/shared --n $sizes --sort pairs,keys
		fi
	done
done
"$python" "$here/cub_ratios.py" --command "$shown" ${csv:+--csv "$csv"} "$work"/*.csv
