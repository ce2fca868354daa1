#!/usr/bin/env bash
# cluster.sh SLUICE SOURCE - tests the templates of scripts/cluster with the program SLUICE and the root SOURCE.
#
# srun and scontrol are replaced: srun runs the program here, and can send it USR1 as Slurm does before the time
# limit, when the file SENDS_USR1 has contents; scontrol notes that a task was queued again. Dask and Snakemake are tried where they are installed
# (SLUICE_CLUSTER_PYTHON: their Python; default: python3). The joined runs must equal the run of one process. Exit
# code: 0 if all is right.
set -euo pipefail
sluice=$(realpath "$1")
cluster=$(realpath "$2")/scripts/cluster
python=${SLUICE_CLUSTER_PYTHON:-python3}

fail() {
	echo "cluster.sh: $*" >&2
	exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$sluice" "$work/bin/sluice"
cat >"$work/bin/srun" <<'END'
#!/bin/bash
while [[ $1 == --* ]]; do shift; done
if [[ ${SENDS_USR1:-} ]]; then
	"$@" &
	until [[ -s $SENDS_USR1 ]]; do sleep 0.05; done
	kill -USR1 $!
	wait $!
	exit
fi
exec "$@"
END
cat >"$work/bin/scontrol" <<'END'
#!/bin/bash
echo "$*" >>requeued
END
chmod +x "$work/bin/srun" "$work/bin/scontrol"
export PATH=$work/bin:$PATH
cd "$work"
cat >c.yaml <<'END'
run: {name: t, seed: 7, particles: 2e4, batch: 500, threads: 1, device: cpu}
model: {slab: {mu_a: 0.1 /cm, mu_s: 300 /cm, thickness: 1 cm}}
keep: [transmitted, reflected]
output: {format: csv, columns: [id, w]}
END
sluice run c.yaml --out whole --quiet

# expect_whole DIR: the joined run in DIR has the files of the run of one process; removes it.
expect_whole() {
	diff -r --exclude=run.json whole "$1" || fail "$1 differs from the run of one process"
	rm -r "$1"
}

for script in "$cluster"/*.sbatch "$cluster"/pbs.sh; do
	bash -n "$script" || fail "$script is no script"
done

# --- Slurm: --array=1-4 --------------------------------------------------------------------------

# task N: runs task N of the array as Slurm does.
task() {
	SLURM_ARRAY_JOB_ID=123 SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 \
		SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_STEP=1 SLURM_CPUS_PER_TASK=1 \
		bash "$cluster/slurm.sbatch" c.yaml parts
}

# A task that is stopped by USR1 before its end is queued again; it continues. A model of 1e5 steps per particle
# makes the part last.
cat >slow.yaml <<'END'
run: {name: t, particles: 4e5, batch: 100, threads: 1, device: cpu}
model: {slab: {mu_a: 0 /cm, mu_s: 300 /cm, thickness: 1 cm}}
keep: transmitted
output: {format: csv, columns: [id]}
END
SENDS_USR1=slow/part_2_of_4/manifest.jsonl SLURM_ARRAY_JOB_ID=123 SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 \
	bash "$cluster/slurm.sbatch" slow.yaml slow >out 2>&1 || fail "a task that is queued again fails: $(cat out)"
[[ $(cat requeued) == "requeue 123_2" ]] || fail "the task was not queued again: $(cat out)"
[[ $(wc -l <slow/part_2_of_4/manifest.jsonl) -gt 0 ]] || fail "the task has committed no batch"

for i in 1 2 3 4; do
	task "$i" >out || fail "task $i fails"
done
[[ $(wc -l <requeued) -eq 1 ]] || fail "a complete task was queued again"
task 2 >out || fail "a task that is complete fails when it starts again"
bash "$cluster/slurm_join.sbatch" parts joined >out
expect_whole joined
# a failure of the run is the exit code of the task
code=0
SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 bash "$cluster/slurm.sbatch" none.yaml parts \
	2>out || code=$?
[[ $code -eq 2 || $code -eq 4 ]] || fail "exit code $code for a configuration that does not exist"
rm -r parts

# --- Slurm with MPI ------------------------------------------------------------------------------

rm -f requeued
SENDS_USR1=slow_mpi/manifest.jsonl SLURM_JOB_ID=7 bash "$cluster/slurm_mpi.sbatch" slow.yaml slow_mpi >out 2>&1 ||
	fail "a job that is queued again fails: $(cat out)"
[[ $(cat requeued) == "requeue 7" ]] || fail "the job was not queued again: $(cat out)"
SLURM_JOB_ID=7 bash "$cluster/slurm_mpi.sbatch" c.yaml joined >out || fail "the job fails: $(cat out)"
expect_whole joined

# --- PBS: -J 1-20 --------------------------------------------------------------------------------

for ((i = 1; i <= 20; i++)); do
	CONFIG=c.yaml DIR=parts PBS_O_WORKDIR=$work PBS_ARRAY_INDEX=$i NCPUS=1 "$cluster/pbs.sh" >out || fail "job $i fails"
done
sluice join parts --out joined --quiet
expect_whole joined
rm -r parts

# --- Dask and Snakemake --------------------------------------------------------------------------

message=$(/usr/bin/python3 -S "$cluster/dask_parts.py" 2>&1) && fail "dask_parts.py succeeds without Dask"
[[ $message == "dask_parts.py: No module named "*"run pip install distributed" ]] || fail "unexpected message: $message"
if "$python" -c 'import dask.distributed' 2>/dev/null; then
	"$python" "$cluster/dask_parts.py" c.yaml parts joined --parts 4 >out || fail "dask_parts.py: $(cat out)"
	expect_whole joined
	rm -r parts
	"$python" "$cluster/dask_parts.py" none.yaml parts joined --parts 2 >out 2>&1 &&
		fail "dask_parts.py succeeds with a configuration that does not exist"
	grep -q "none.yaml" out || fail "dask_parts.py does not print the message of sluice: $(cat out)"
else
	echo "no dask.distributed for $python; not tried"
fi
if "$python" -c 'import snakemake' 2>/dev/null; then
	"$python" -m snakemake -s "$cluster/Snakefile" --cores 2 --quiet all --config config=c.yaml dir=parts \
		out=joined parts=4 >out 2>&1 || fail "snakemake: $(cat out)"
	expect_whole joined
else
	echo "no snakemake for $python; not tried"
fi
