#!/usr/bin/env python3
"""Photons in a slab: MCX (Fang, Boas 2009) against sluice on the same GPU.

    python3 bench/peers/mcx.py [--config NAME]... [--volume NAME]... [--repeat N] [--csv FILE]

Needs a CUDA GPU and the Python packages pmcx and numpy. The slab is one layer of voxels as thick as the slab
(--layers N: N layers of cubic voxels), cyclic in x and y, with equal refractive indices, a pencil beam and one
time gate. MCX runs with its result, the fluence in each voxel, and without it. Its time is that of its kernel as
pmcx reports it, in whole milliseconds. MCX attenuates weights. sluice runs the same slab analogue (whole particles
are absorbed) and with implicit capture, keeps no survivors, and its time is that of the device before
compression, from run.json. Before the timing the reflected, transmitted and absorbed fractions of MCX are
compared with the published ones, to within 5 standard errors of an analogue simulation; the absorbed fraction
of each timed run too, to within 2e-4 at most.

--volume runs a benchmark that pmcx.mcxcreate() knows, such as cube60, with one time gate and without detectors, in
the model voxels of sluice (sluice.mcx.translate; the Python package sluice is needed). Before the timing the absorbed
fractions and the fluence in each voxel are compared: 16 runs of MCX and the batches of sluice give its variance.
"""
import itertools
import json
import os

import common

SPEED_OF_LIGHT_MM = 2.99792458e11
BATCHES = 32  # enough for the error of a fraction of weight, which is that over batches
ROUNDING = 2e-4


def settings(np, slab, layers, photons, **more):
    """The configuration of pmcx: mm and 1/mm; the first voxel begins at 0."""
    thickness = 10 * slab["thickness"]
    end = 1e4 * thickness / SPEED_OF_LIGHT_MM
    return {
        "nphoton": photons, "vol": np.ones((1, 1, layers), dtype="uint8"), "unitinmm": thickness / layers,
        "prop": np.array([[0, 0, 1, 1], [slab["mu_a"] / 10, slab["mu_s"] / 10, slab["g"], 1]], dtype="float32"),
        "issrcfrom0": 1, "srcpos": [0.5, 0.5, 0.0], "srcdir": [0.0, 0.0, 1.0], "tstart": 0.0, "tend": end,
        "tstep": end, "isreflect": 0, "bc": "cc_cc_000000", "issavedet": 0, "issave2pt": 0, "autopilot": 1,
        "gpuid": 1, "flog": "/dev/null", **more,
    }


def fractions(np, pmcx, slab, layers, photons):
    """The fractions of MCX: the absorbed one from its energies, the others from the photons that leave."""
    cfg = settings(np, slab, layers, photons, bc="cc_cc_001001", issavedet=1, savedetflag="px",
                   maxdetphoton=photons + photons // 10, seed=20260101)
    result = pmcx.run(cfg)
    path, _, _, z = np.asarray(result["detp"], dtype="f8")
    weight = np.exp(-slab["mu_a"] / 10 * cfg["unitinmm"] * path)
    below = z > layers / 2
    launched = result["stat"]["energytot"]
    return {"reflected": weight[~below].sum() / launched, "transmitted": weight[below].sum() / launched,
            "absorbed": result["stat"]["energyabs"] / launched}


def check(np, pmcx, options, slab, published):
    n = options.check_photons
    found = fractions(np, pmcx, slab, options.layers, n)
    common.agree("MCX: the sum of all fractions", sum(found.values()), 1, 1e-3)
    for name, expected in published.items():
        common.agree(f"MCX: the fraction {name}", found[name], expected, 5 * (expected * (1 - expected) / n) ** 0.5)


def run_mcx(np, pmcx, options, slab, published, fluence, seed):
    """10^9 photons per second of one kernel of MCX."""
    result = pmcx.run(settings(np, slab, options.layers, options.photons, issave2pt=fluence, seed=seed))
    stat = result["stat"]
    if stat["runtime"] < 100:
        raise common.WrongAnswer(f"MCX took {stat['runtime']} ms, which is too short for a clock of 1 ms; use more "
                                 "--photons")
    p = published["absorbed"]
    common.agree("MCX: the absorbed fraction", stat["energyabs"] / stat["energytot"], p,
                 max(ROUNDING, 5 * (p * (1 - p) / options.photons) ** 0.5))
    return 1e-6 * stat["nphoton"] / stat["runtime"]


def run_sluice(words):
    """10^9 particles per second before compression; sluice itself compares the fractions with the published ones."""
    result = json.loads(common.run(words))
    return 1e-9 * result["times"]["particles"] / common.computing_seconds(result)


def compare_slab(np, pmcx, config, options, report):
    slab, published = common.slab_of(options, config)
    if {slab["n"], slab["n_above"], slab["n_below"]} != {slab["n"]} or "absorbed" not in published:
        raise common.NotRun(f"{config} has several refractive indices or no published absorbed fraction")
    check(np, pmcx, options, slab, published)
    sets = ("run.slots=1", f"run.batch={max(1, options.photons // BATCHES)}", f"run.particles={options.photons}",
            "keep=max_steps", "tallies=[]", "output.columns=[id]", "output.format=csv.gz")
    programs = {f"sluice, {mode}": lambda mode=mode: run_sluice(common.sluice_words(
        options, config, "--device", options.device, sets=(*sets, f"model.slab.absorption={mode}")))
                for mode in ("analogue", "implicit")}
    seeds = itertools.count(1)
    for name, fluence in (("MCX, fluence", 1), ("MCX, no result", 0)):
        programs[name] = lambda fluence=fluence: run_mcx(np, pmcx, options, slab, published, fluence, next(seeds))
    for warm_up in programs.values():
        warm_up()
    add_rows(report, common.name_of(config), common.alternate(programs, options.repeat),
             {"MCX, fluence": list(programs)[:2], "MCX, no result": list(programs)[:2]})


def add_rows(report, work, rates, against):
    """against: the runs of sluice that a run of MCX is compared with."""
    for name, values in rates.items():
        if name not in against:
            report.row(work, name, "photons", "G/s", values)
        for ours in against.get(name, ()):
            report.row(work, f"{name}; against {ours}", "photons", "G/s", values, rates[ours])


# --- volumes of voxels ----------------------------------------------------------------------------

def run_volume(np, sluice, options, cfg, estimator="track"):
    """A run of sluice. estimator: of the fluence in each voxel; None: without it."""
    made, path = sluice.mcx.translate(cfg, estimator or "track"), os.path.join(options.work, "labels.npy")
    np.save(path, np.asfortranarray(made.labels))
    config = made.config if estimator else {**made.config, "tallies": []}
    return sluice.run(config, model__voxels__file=path, device=options.device, slots=1)


def check_volume(np, pmcx, sluice, options, name, cfg):
    """Compares absorbed fractions and fluence."""
    runs = [pmcx.run({**cfg, "nphoton": options.check_photons // 16, "seed": 1 + k}) for k in range(16)]
    fluence = np.array([r["flux"][..., 0] for r in runs], "f8") * cfg["tend"]
    absorbed = [r["stat"]["energyabs"] / r["stat"]["energytot"] for r in runs]
    result = run_volume(np, sluice, options, {**cfg, "nphoton": options.check_photons})
    grid, fraction = next(iter(result.tallies.values())), result.fates["absorbed"].fraction
    ours, error = grid.density["all"] * 1e-2, grid.density_error["all"] * 1e-2  # from 1/cm^2 to 1/mm^2
    mean, theirs = fluence.mean(0), fluence.std(0, ddof=1) / 4
    common.agree(f"{name}: the absorbed fraction of sluice", fraction, np.mean(absorbed),
                 5 * (fraction * (1 - fraction) / options.check_photons) ** 0.5 + 1.25 * np.std(absorbed, ddof=1))
    clear = (theirs > 0) & (theirs < 0.1 * mean) & (error > 0) & (error < 0.1 * ours)
    if not clear.any():
        raise common.WrongAnswer(f"{name}: no voxel has a fluence that is known to 10 %; use more --check-photons")
    chi2 = np.mean((ours - mean)[clear] ** 2 / (error ** 2 + theirs ** 2)[clear])
    common.agree(f"{name}: chi2 per voxel of the fluence in {clear.sum()} voxels", chi2, 1, 0.25)


def compare_volume(np, pmcx, name, options, report):
    sluice = common.require("sluice.mcx", "sluice") and __import__("sluice")
    cfg = {**pmcx.mcxcreate(name), "nphoton": options.photons, "issavedet": 0, "flog": "/dev/null", "autopilot": 1}
    cfg["tstep"] = cfg["tend"]
    check_volume(np, pmcx, sluice, options, name, cfg)
    seeds = itertools.count(1)

    def rate_of_mcx(fluence):
        stat = pmcx.run({**cfg, "issave2pt": fluence, "seed": next(seeds)})["stat"]
        return 1e-6 * stat["nphoton"] / stat["runtime"]

    def rate_of_sluice(estimator):
        return 1e-9 * options.photons / common.computing_seconds(run_volume(np, sluice, options, cfg, estimator).report)

    programs = {"sluice, track": lambda: rate_of_sluice("track"),
                "sluice, collision": lambda: rate_of_sluice("collision"),
                "sluice, no result": lambda: rate_of_sluice(None),
                "MCX, fluence": lambda: rate_of_mcx(1), "MCX, no result": lambda: rate_of_mcx(0)}
    add_rows(report, name, common.alternate(programs, options.repeat), {
        "MCX, fluence": ("sluice, track", "sluice, collision"), "MCX, no result": ("sluice, no result",)})


def gpu_of(pmcx):
    try:
        found = pmcx.gpuinfo()
    except RuntimeError:
        found = None
    if not found:
        raise common.NotRun("there is no CUDA GPU that pmcx can use")
    return found[0]["name"]


def compare(options, report):
    np = common.require("numpy", "numpy")
    options.photons = options.photons or (1 << 26 if options.volume else 1 << 30)
    pmcx = common.require("pmcx", "pmcx")
    report.origin("device", gpu_of(pmcx))
    report.origin("driver", common.driver_version())
    volume = "benchmarks of mcxcreate()" if options.volume else f"1 x 1 x {options.layers} voxels"
    report.origin("peer", f"pmcx {common.package_version('pmcx')}; {volume}, {options.photons} photons, as many of "
                          "sluice")
    for name in options.volume or []:
        compare_volume(np, pmcx, name, options, report)
    for config in options.config or ([] if options.volume else ["vandehulst", "isotropic_099"]):
        compare_slab(np, pmcx, config, options, report)


def main():
    parser = common.options_of(__doc__, "--config", "--device")
    parser.add_argument("--volume", action="append", metavar="NAME",
                        help="benchmark of pmcx.mcxcreate(): cube60, cube60b, cube60planar, skinvessel, sphshell or "
                             "spherebox; can be repeated; no slab runs then unless --config names it")
    parser.add_argument("--layers", type=common.positive, default=1, metavar="N", help="layers of voxels (default 1)")
    parser.add_argument("--photons", type=common.positive, metavar="N",
                        help="photons of a timed run (default 2^30; of volumes 2^26)")
    parser.add_argument("--check-photons", type=common.positive, default=4_000_000, metavar="N",
                        help="photons of the run whose answers are compared (default 4e6)")
    common.run_script(compare, parser)


if __name__ == "__main__":
    main()
