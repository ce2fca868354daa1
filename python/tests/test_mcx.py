"""sluice.mcx: the dictionaries and input files of MCX become configurations; refusals; results in MCX's units."""
import base64
import json
import zlib

import numpy
import pytest

from sluice import _mcx_input, mcx

MEDIA = [[0, 0, 1, 1], [0.005, 1, 0.01, 1.37]]
CUBE60 = {"nphoton": 1e6, "vol": numpy.ones((60, 60, 60), "u1"), "srctype": "pencil", "srcpos": [29, 29, 0],
          "srcdir": [0, 0, 1], "prop": MEDIA, "tstart": 0, "tend": 5e-9, "tstep": 5e-9, "isreflect": 0,
          "issrcfrom0": 1, "seed": 7, "detpos": [[29, 19, 0, 1], [29, 39, 0, 1]], "issavedet": 0}
CUBE60B = {**CUBE60, "isreflect": 1}
PLANAR = {**CUBE60B, "srctype": "planar", "srcpos": [10.0, 10, -10], "srcparam1": [40.0, 0, 0, 0], "srcparam2": [0, 40.0, 0, 0]}
SKIN = {**CUBE60, "vol": numpy.ones((200, 200, 200), "u1"), "srctype": "disk", "srcpos": [100, 100, 20],
        "srcparam1": [60, 0, 0, 0], "unitinmm": 0.005, "tend": 5e-8, "tstep": 5e-8,
        "prop": MEDIA + [[23.05, 9.4, 0.9, 1.37]] * 3,
        "shapes": '{"Shapes": [{"ZLayers": [[1, 20, 1], [21, 32, 4], [33, 200, 3]]},'
                  '{"Cylinder": {"Tag": 2, "C0": [0, 100.5, 100.5], "C1": [200, 100.5, 100.5], "R": 20}}]}'}
SPHERES = {**CUBE60B, "srcpos": [30, 30.1, 0], "prop": MEDIA + [[0.004, 0.009, 0.89, 1.37], [0.05, 0, 1, 1.37]],
           "shapes": {"Shapes": [{"Grid": {"Tag": 1, "Size": [60, 60, 60]}},
                                 {"Sphere": {"Tag": 2, "O": [30, 30, 30], "R": 25}},
                                 {"Sphere": {"Tag": 3, "O": [30, 30, 30], "R": 10}}]}}


def voxels(cfg):
    return mcx.translate(cfg).config["model"]["voxels"]


def test_cubes():
    made = mcx.translate(CUBE60)
    assert made.config["run"] == {"name": "mcx", "seed": 7, "particles": 1000000, "batch": 31250}
    assert made.detectors is None and made.config["tallies"] == [["fluence_track", "voxel"]]
    v = made.config["model"]["voxels"]
    assert v["media"] == [{"mu_a": "0.005 /mm", "mu_s": "1.0 /mm", "g": 0.01, "n": 1.37}]
    assert (v["voxel"], v["n_outside"], v["max_time"]) == ("1.0 mm", 1.37, "5.0 ns") and "detectors" not in v
    assert voxels({**CUBE60, "issrcfrom0": 0, "srcpos": [30, 30, 1]})["source"] == v["source"]
    assert v["source"]["position"] == ["29.0 mm", "29.0 mm", "0.0 mm"] and \
        voxels(CUBE60B)["n_outside"] == voxels({**CUBE60, "bc": "rrrrrr"})["n_outside"] == 1


@pytest.mark.parametrize("srctype, one, expected", [
    ("gaussian", [4, 0, 0, 0], {"sigma": "1.0 mm"}), ("cone", [0.5, 0, 0, 0], {"angle": "0.5 rad"}),
    ("isotropic", [0] * 4, {}), ("slit", [8, 0, 0, 0], {"side": ["4.0 mm", "0.0 mm", "0.0 mm"]}),
    ("line", [0, 8, 0, 0], {"side": ["0.0 mm", "4.0 mm", "0.0 mm"]})])
def test_sources(srctype, one, expected):
    source = voxels({**CUBE60, "unitinmm": 0.5, "srctype": srctype, "srcparam1": one})["source"]
    assert source.pop("position")[0] == "14.5 mm" and source.pop("type") == srctype
    assert source.pop("direction", None) == (None if srctype in ("isotropic", "line") else [0, 0, 1])
    assert source == expected


def test_light_from_outside_enters_as_in_mcx():
    v = voxels(PLANAR)
    assert [v["source"][k] for k in ("position", "side_2")] == [["10.0 mm", "10.0 mm", "0.0 mm"], ["0.0 mm", "40.0 mm", "0.0 mm"]]
    assert float(v["max_time"].split()[0]) == pytest.approx(5 - 10 / 299.792458)
    assert voxels({**PLANAR, "voidtime": 0})["max_time"] == "5.0 ns"
    for same in ({"isspecular": 1}, {"prop": [[0, 0, 1, 1.37], MEDIA[1]]}):
        assert voxels({**PLANAR, **same})["source"]["position"][2] == "-10.0 mm"


def test_shapes():
    y, z = numpy.mgrid[:200, :200]
    layers = numpy.where(z < 20, 1, numpy.where(z < 32, 4, 3))
    for at in (99, 100):  # positions from 1, and from 0
        tube = (y - at) ** 2 + (z - at) ** 2 <= 400
        assert (mcx.translate({**SKIN, "issrcfrom0": at - 99}).labels[:199] == numpy.where(tube, 2, layers)).all()
    assert voxels(SKIN)["source"]["radius"] == "0.3 mm"
    labels = mcx.translate(SPHERES).labels
    x, y, z = numpy.mgrid[:10, :10, :10] + 0.5
    inner = (x * x + y * y + z * z <= 100).sum()
    assert (labels == 3).sum() == 8 * inner and labels[30, 30, 54] == 2 and labels[30, 30, 55] == 1
    drawn = _mcx_input.rasterise({"Shapes": [
        {"Grid": {"Tag": 1, "Size": [6, 5, 4]}}, {"Origin": [1, 0, 0]},
        {"Box": {"Tag": 2, "O": [1, 0, 0], "Size": [2, 1, 1]}},
        {"Subgrid": {"Tag": 3, "O": [5, 2, 1], "Size": [1, 1, 1]}}, {"YSlabs": {"Tag": 4, "Bound": [[5, 5]]}},
        {"UpperSpace": {"Tag": 5, "Coef": [1, 0, 0, 5]}}]}, None)
    expected = ["221115", "111335", "111335", "111115", "444445"]
    assert ["".join(map(str, row)) for row in drawn[:, :, 0].T] == expected


@pytest.mark.parametrize("more, key", [
    ({"polprop": [[1]]}, "polprop"), ({"bc": "cc____"}, "bc"), ({"bc": "______001000"}, "bc"),
    ({"vol": numpy.zeros((4, 2, 2, 2))}, "vol"), ({"vol": numpy.full((2, 2, 2), 2)}, "prop"), ({"nphotn": 1}, "nphotn: is unknown"),
    ({"vol": numpy.full((2, 2, 2), 300)}, "vol"), ({"vol": numpy.full((2, 2, 2), 0.5)}, "vol"), ({"srctype": "fourier"}, "srctype"),
    ({"srcpos": [[1, 1, 1], [2, 2, 2]]}, "srcpos"), ({"outputtype": "jacobian"}, "outputtype"),
    ({"seed": [1, 2]}, "seed"), ({"issavedet": 1, "savedetflag": "dpi"}, "savedetflag"),
    ({"srcdir": [0, 0, 1, 5]}, "srcdir"), ({"isnormalized": 0}, "isnormalized"),
    ({"prop": MEDIA + [[0, 1, 0, 1.5]], "vol": numpy.arange(8).reshape(2, 2, 2) % 3}, "isreflect"),
    ({"isreflect": 1, "srcpos": [30, 30, -1], "srcdir": [0, 0.6, 0.8]}, "isspecular"), ({"tend": None}, "tend"),
    ({"tstep": -1}, "tend"), ({"tstart": 6e-9}, "tend"), ({"vol": numpy.zeros((0, 2, 2))}, "vol"),
    ({"nphoton": "many"}, "nphoton"), ({"nphoton": 0}, "nphoton"), ({"srcpos": [1, 1]}, "srcpos"), ({"srcpos": []}, "srcpos"), ({"detpos": [[1, 1, 1]]}, "detpos"),
    ({"unitinmm": -1}, "unitinmm"), ({"srctype": "pattern", "srcparam1": [9, 0, 0, 1], "srcparam2": [0, 9, 0, 1], "srcpattern": [[numpy.nan]]}, "srcpattern"), ({"savedetflag": "dq", "issavedet": 1}, "savedetflag"), ({"vol": numpy.full((2, 2, 2), numpy.nan)}, "vol"),
    *(({"shapes": {"Shapes": shapes}}, "shapes") for shapes in ({}, [3], [{"Sphere": {"O": [1, 1, 1]}}], [{"Box": {"O": [1]}}]))])
def test_refusals_name_the_setting(more, key):
    with pytest.raises(ValueError, match=f"^{key}[:;] [^\n]*$"):
        mcx.translate({**CUBE60, **more})


def test_input_file(tmp_path, capsys):
    data = {"Session": {"ID": "a\ncube", "Photons": 1e6, "RNGSeed": 7, "DoMismatch": False, "DoPartialPath": 0,
                        "OutputType": "X", "DebugFlag": 4},
            "Forward": {"T0": 0, "T1": 6e-9, "Dt": 5e-9},
            "Domain": {"OriginType": 1, "LengthUnit": 1, "Dim": [60, 60, 60],
                       "Media": [dict(zip(("mua", "mus", "g", "n"), row)) for row in MEDIA]},
            "Optode": {"Source": {"Type": "pencil", "Pos": [29, 29, 0], "Dir": [0, 0, 1]},
                       "Detector": [{"Pos": d[:3], "R": d[3]} for d in CUBE60["detpos"]]},
            "Shapes": [{"Grid": {"Tag": 1, "Size": [60, 60, 60]}}]}
    path = tmp_path / "cube.json"
    path.write_text(json.dumps(data).replace("\\n", "\n"))
    made = mcx.translate(_mcx_input.load(str(path)))
    assert made.config == mcx.translate(CUBE60).config == mcx.translate(mcx._given(data, {})).config and (made.labels == 1).all()
    data["Shapes"] = {"_ArrayType_": "uint8", "_ArraySize_": [2, 2, 2], "_ArrayZipType_": "zlib",
                      "_ArrayZipData_": base64.b64encode(zlib.compress(bytes(range(8)))).decode()}
    path.write_text(json.dumps(data))
    assert (_mcx_input.load(str(path))["vol"] == numpy.arange(8).reshape(2, 2, 2)).all()
    data["Domain"] = {**data["Domain"], "VolumeFile": "v.bin", "Dim": [4, 2, 1], "Step": [0.5, 0.5, 0.5]}
    numpy.arange(8, dtype="u1").tofile(tmp_path / "v.bin")
    path.write_text(json.dumps(data))
    read = _mcx_input.load(str(path))
    assert read["vol"][1, 1, 0] == 5 and read["unitinmm"] == 0.5 and mcx.main([str(path), str(tmp_path / "none" / "a.npz")]) == 2
    (tmp_path / "cube.npz").touch()
    assert mcx.main([str(path)]) == mcx.main([str(path), "a.mat"]) == 2 and "cube.npz exists; " in (e := capsys.readouterr().err) and "a.mat does" in e


def test_cube60_absorbs_what_mcx_publishes():
    cfg = {**CUBE60, "nphoton": 4000, "outputtype": "energy", "issavedet": 1, "savedetflag": 119, "dumpmask": 1}
    first, second = mcx.run(cfg, device="cpu"), mcx.run(cfg, device="emulated")
    absorbed = first["stat"]["energyabs"] / first["stat"]["energytot"]
    assert absorbed == pytest.approx(0.1769708, abs=0.015) and first["flux"].sum(dtype="f8") == pytest.approx(absorbed, 1e-5)
    assert (first["flux"] == second["flux"]).all() and (first["detp"] == second["detp"]).all()
    assert first["vol"].shape == (60, 60, 60) and (first["vol"] == 1).all()
    flux = mcx.run(CUBE60, nphoton=4000, device="cpu")["flux"]  # 1/(mm^2 s), in one gate of 5 ns, with 0.005 /mm
    assert flux.shape == (60, 60, 60, 1) and flux.sum() * 5e-9 * 0.005 == pytest.approx(absorbed, rel=0.03)
    gates = mcx.run(CUBE60, nphoton=4000, tstep=1e-9, outputtype="fluence", device="cpu")["flux"]
    assert gates.shape == (60, 60, 60, 5) and gates.sum(3) == pytest.approx(flux[..., 0] * 5e-9, rel=1e-4, abs=1e-12)
    (detected, scatterings, path), at = first["detp"][:3], first["detp"][3:6]
    scatterings = scatterings.view("u4")
    assert set(detected) == {1, 2} and (at[2] == 0).all() and (scatterings > 0).all() and (path > 8).all()  # detectors are at 10 voxels
    assert path.sum() / scatterings.sum() == pytest.approx(1, rel=0.2)  # the mean free path
    for k, (x, y, z, radius) in enumerate(CUBE60["detpos"]):
        assert (numpy.hypot(*(at[:2, detected == k + 1] - [[x], [y]])) <= radius * 1.0001).all()


def test_detected_photons_have_paths_by_medium():
    vol = numpy.ones((12, 12, 9), "u1")
    for k in range(9):
        vol[:, :, k] += k // 2  # media 1 to 5, in layers
    cfg = {**CUBE60, "vol": vol, "nphoton": 3000, "unitinmm": 2.0, "srcpos": [6, 6, 0], "issavedet": 1, "savedetflag": "dspmxvw",
           "prop": [MEDIA[0]] + [[0.01 * k, 0.5, 0.0, 1.37] for k in range(5)], "detpos": [[6, 6, 0, 4], [6, 6, 9, 4]]}
    detp = mcx.mcxlab(cfg, device="cpu")["detp"]
    n = len(detp["detid"])
    assert n > 500 and detp["ppath"].shape == detp["nscat"].shape == detp["mom"].shape == (n, 5)
    assert (detp["data"] == mcx.run(cfg, device="cpu")["detp"]).all()  # as pmcx.run() returns it
    far = detp["detid"] == 2
    assert (detp["ppath"][far] > 0).all() and far.any() and (detp["ppath"][:, 0] > 0).all()
    assert detp["ppath"].sum() / detp["nscat"].sum() == pytest.approx(1, rel=0.1)  # 2 mm, the mean free path
    assert detp["mom"].sum() / detp["nscat"].sum() == pytest.approx(1, rel=0.1) and (detp["mom"] <= 2 * detp["nscat"]).all()
    first = mcx.mcxlab(cfg, device="cpu", prop=cfg["prop"][:3], vol=numpy.minimum(vol, 2))["detp"]
    assert (first["ppath"][:, 0] == detp["ppath"][:, 0]).all()  # equal media: the same histories


def test_pattern(tmp_path):
    image = numpy.array([[0, 3, 1], [0, 0, 4]], "f4")
    cfg = {**CUBE60, "nphoton": 2000, "srctype": "pattern", "srcpos": [10, 20, 0], "srcparam1": [20, 0, 0, 2],
           "srcparam2": [0, 30, 0, 3], "srcpattern": image, "prop": [MEDIA[0], [0.01, 0, 1, 1]]}
    flux = mcx.run(cfg, device="cpu")["flux"][..., 0].sum(2)
    blocks = flux[10:30, 20:50].reshape(2, 10, 3, 10).sum((1, 3)) / flux.sum()
    assert blocks == pytest.approx(image / 8, abs=0.05) and (blocks[image == 0] == 0).all()
    with pytest.raises(ValueError, match="(?m)^srcpattern: "):
        mcx.translate({**cfg, "srcpattern": image.T})
