#!/usr/bin/env bash
# fuzz.sh - feeds random bytes to the configuration reader and to the encoder of DEFLATE, under ASan and UBSan (libFuzzer).
#
#	scripts/fuzz.sh [SECONDS]      default 600, half of them each; findings are left in build/fuzz
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

seconds=${1:-600}
install_missing $BUILD_PACKAGES clang libclang-rt-14-dev
export CC=clang CXX=clang++
build fuzz
mkdir -p build/fuzz/corpus build/fuzz/deflate_corpus
for target in config deflate; do
	clang -std=c17 -D_GNU_SOURCE -I. -g -O1 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all tests/fuzz/$target.c build/fuzz/libsluice.a \
		$(pkg-config --libs yaml-0.1 libdeflate zlib libpng hdf5) -fsanitize-link-c++-runtime -lpthread -lm -lstdc++ -o build/fuzz/$target
done
cd build/fuzz
./config -max_len=4096 -max_total_time="$((seconds / 2))" -print_final_stats=1 \
	-dict=../../tests/fuzz/config.dict corpus ../../tests/fuzz/corpus/config ../../data/configs \
	2>log || { tail -40 log; exit 1; }
grep -E 'number_of_executed_units|slowest_unit' log
./deflate -max_len=100000 -len_control=10 -max_total_time="$((seconds / 2))" -print_final_stats=1 deflate_corpus \
	2>log || { tail -40 log; exit 1; }
grep -E 'number_of_executed_units|slowest_unit' log
