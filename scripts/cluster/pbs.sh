#!/bin/bash
# pbs.sh - computes the parts of one run as a PBS job array (PBS Pro, OpenPBS).
#
#     qsub -v CONFIG=/path/slab.yaml,DIR=/path/parts scripts/cluster/pbs.sh
#
# Each job of the array computes one part in its own directory below DIR. --stop-before must be shorter
# than walltime: the part commits its finished batches and ends. To compute the rest, submit the same
# array again: complete parts end at once. Then: sluice join DIR --out OUT
#
#PBS -N sluice
#PBS -J 1-20
#PBS -l select=1:ncpus=8:mem=8gb
#PBS -l walltime=01:00:00
#PBS -r y
#PBS -j oe

parts=20 # the last number of -J

cd "${PBS_O_WORKDIR:?this script is started by qsub}" || exit 2
sluice run "${CONFIG:?use qsub -v CONFIG=...,DIR=...}" --part "${PBS_ARRAY_INDEX:?}/$parts" --resume \
	--out "${DIR:?use qsub -v CONFIG=...,DIR=...}" --threads "${NCPUS:-auto}" --stop-before '3480 s'
