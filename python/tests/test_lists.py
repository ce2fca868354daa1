"""Particle lists from arrays: write_mcpl()."""
import array
import gc
import gzip
import itertools
import os
import pickle
import shutil
import sys

import numpy
import pytest

import sluice
from conftest import SLAB, SOURCE, Only, refused, same_columns, share

FORMATS = SOURCE / "tests/stages/formats"


def particles(n, dtype=numpy.float32, seed=1):
    """n particles with all fields; some directions lie on axes and planes."""
    random = numpy.random.default_rng(seed)
    directions = random.normal(size=(3, n))
    directions[:, :60] *= random.integers(0, 2, (3, min(n, 60)))
    directions[2, :60] += (directions[:, :60] == 0).all(0)
    directions /= numpy.sqrt((directions ** 2).sum(0))
    columns = {name: (random.random(n) * 10 - 5).astype(dtype) for name in "xyz"}
    columns.update({name: d.astype(dtype) for name, d in zip("uvw", directions)})
    columns.update({name: random.random(n).astype(dtype) for name in ("energy", "time", "weight")})
    columns["pdg"] = random.choice(numpy.array([22, 2112, -11], numpy.int32), n)
    return columns


def pyarrow_of(table):
    pyarrow = sys.modules.get("pyarrow")
    return str(pyarrow.table(table).schema.field("x").type) if pyarrow else None


def refuse(name="USAGE", *texts, **call):
    return refused(lambda: sluice.write_mcpl(**call), name, *texts)


def test_records_are_those_of_convert(tmp_path):
    """The program writes the survivors of a run; the same columns give the same records."""
    survivors = sluice.run(SLAB, out=tmp_path / "run", output__columns="[]", output__format="npz").survivors
    sluice.convert(tmp_path / "run", tmp_path / "expected.mcpl", output__mcpl__energy="2 eV")
    sluice.write_mcpl(tmp_path / "list.mcpl", survivors, pdg=22, energy=0.002, userflags="fate", weight=1.0)
    made, expected = ((tmp_path / name).read_bytes() for name in ("list.mcpl", "expected.mcpl"))
    assert survivors.n > 1000 and made[-32 * survivors.n:] == expected[-32 * survivors.n:]


@pytest.mark.parametrize("n, suffix", share(itertools.product([0, 1, 255, 256, 257, 60_000], [".mcpl", ".mcpl.gz"]), 6))
def test_lists_are_read_back(tmp_path, n, suffix):
    columns = particles(n)
    columns["userflags"] = numpy.arange(n, dtype=numpy.uint32) * 7
    columns.update({f"pol_{c}": columns[c] / 8 for c in "xyz"})
    path = tmp_path / ("list" + suffix)
    sluice.write_mcpl(path, columns, comment=["first", "second: é"])
    table = sluice.read(path)
    assert table.n == n and not table.rounded
    for name, values in columns.items():
        if name in ("u", "v", "w", "energy", "time"):
            assert numpy.allclose(table[name], values, rtol=3e-7, atol=3e-7)
        else:
            assert numpy.array_equal(table[name], values), name
    if suffix == ".mcpl":
        assert b"first" in path.read_bytes() and "second: é".encode() in path.read_bytes()


def test_doubles_keep_their_digits(tmp_path):
    columns = particles(1000, numpy.float64)
    for precision, number, dtype in (("auto", 8, "<f8"), ("double", 8, "<f8"), ("single", 4, "<f4")):
        path = tmp_path / f"{precision}.mcpl"
        sluice.write_mcpl(path, columns, precision=precision)
        size = 8 * number + 4
        records = numpy.frombuffer(path.read_bytes()[-1000 * size:], [("x", dtype), ("", f"V{size - number}")])
        assert numpy.array_equal(records["x"], columns["x"].astype(dtype))
        table = sluice.read(path)
        assert numpy.array_equal(table["x"], columns["x"].astype(dtype)) and not table.rounded
        assert sluice.read(path, precision="single").rounded == (number == 8)
        assert pyarrow_of(table) in (None, "double" if number == 8 else "float")
        sluice.write_mcpl(path, sluice.filter(table, "x > 0"), force=True)  # and so does a filter
        assert numpy.array_equal(sluice.read(path)["x"], columns["x"].astype(dtype)[columns["x"] > 0])
        sluice.write_mcpl(path, columns, precision=precision, force=True)
    assert (tmp_path / "auto.mcpl").read_bytes() == (tmp_path / "double.mcpl").read_bytes()
    sluice.write_mcpl(tmp_path / "one.mcpl", {**particles(1000), "x": columns["x"]})
    assert sluice.read(tmp_path / "one.mcpl")["y"].dtype == "f8"


def test_arrays_of_any_layout(tmp_path):
    """Strides, records, integers, and buffers that are not NumPy's give the bytes of plain arrays."""
    columns = particles(3000)
    sluice.write_mcpl(tmp_path / "plain.mcpl", columns)
    expected = (tmp_path / "plain.mcpl").read_bytes()
    packed = numpy.zeros(3000, [("flag", "u1")] + [(k, v.dtype) for k, v in columns.items()])
    for name, values in columns.items():
        packed[name] = values
    reverse = {k: numpy.ascontiguousarray(v[::-1])[::-1] for k, v in columns.items()}
    for other in ({k: packed[k] for k in columns}, reverse, {k: v.tolist() for k, v in columns.items()},
                  {k: Only(v) for k, v in columns.items()}, {k: Only(v) for k, v in reverse.items()},
                  {**columns, "pdg": columns["pdg"].astype(numpy.int64)},
                  {**columns, "x": array.array("f", columns["x"].tolist())}):
        sluice.write_mcpl(tmp_path / "other.mcpl", other, precision="single", force=True)
        assert (tmp_path / "other.mcpl").read_bytes() == expected
    for other in ({k: packed[k] for k in columns}, reverse):
        same_columns(*(sluice.filter(c, "x > 0 and pdg == 22", key=["energy:float", "x:32:-9..9"]) for c in (other, columns)))
    sluice.write_mcpl(tmp_path / "other.mcpl", {**columns, "x": numpy.arange(3000)}, force=True)
    assert numpy.array_equal(sluice.read(tmp_path / "other.mcpl")["x"], numpy.arange(3000))


def same(made, expected):
    """The same bits of all columns."""
    return (made.n, list(made), made.rounded) == (expected.n, list(expected), expected.rounded) and all(
        made[c].tobytes() == expected[c].tobytes() for c in expected)


POLARISATION = {"pol_x": "x", "pol_y": "y", "pol_z": "z"}
LAYOUTS = [{}, {"weight": 0.1, "pdg": 22}, {"userflags": "flags"}, {**POLARISATION, "pdg": -11},
           {**POLARISATION, "userflags": "flags", "weight": 0.5}]


@pytest.mark.parametrize("values, precision", share(itertools.product(LAYOUTS, ("single", "double")), 3))
def test_plain_files_are_read_as_gzip_files(tmp_path, values, precision):
    """Two readers: plain files are decoded on all cores, by other code. Numbers have any bits that a column can have."""
    columns = {**particles(70_001), "flags": numpy.arange(70_001)}
    plain = tmp_path / "list.mcpl"
    sluice.write_mcpl(plain, columns, precision=precision, **values)
    content = bytearray(plain.read_bytes())
    random = numpy.random.default_rng(3)
    real = ["pol_x", "pol_y", "pol_z"] * ("pol_x" in values) + ["x", "y", "z", "first", "second", "energy", "time"] + \
        ["weight"] * ("weight" not in values)
    record = numpy.dtype([(name, {"single": "f4", "double": "f8"}[precision]) for name in real] +
                         [("pdg", "i4")] * ("pdg" not in values) + [("flags", "u4")] * ("userflags" in values))
    last = numpy.frombuffer(content, record, offset=len(content) - 70_001 * record.itemsize)[-300:]
    for name in record.names:
        bits = random.integers(0, 1 << 32, 300, numpy.uint32)
        number = bits.view("f4").copy()
        number[numpy.isfinite(number) & (abs(number) > 1e30)] = 1e-40
        with numpy.errstate(invalid="ignore"):  # of NaN
            last[name] = number.astype(last[name].dtype) * (1 + 1e-9) if name in real else bits.astype("i8")
    del last
    plain.write_bytes(content)
    table, single = (sluice.read(plain, precision=p) for p in ("auto", "single"))
    assert table.n == 70_001 and single.rounded == (precision == "double")
    with numpy.errstate(over="ignore"):
        assert all(table[c].astype(single[c].dtype).tobytes() == single[c].tobytes() for c in table)
    packed = tmp_path / "packed.mcpl.gz"
    packed.write_bytes(gzip.compress(content, 1))
    assert same(sluice.read(packed), table)
    plain.write_bytes(content + b"x")  # read record by record, as by a run
    assert same(sluice.read(plain), table)


def test_headers_are_kept(tmp_path):
    """As by the program: statistics stay as they are when particles are removed, and are added up over lists."""
    a, b, c = (tmp_path / f"{name}.mcpl" for name in "abc")
    sluice.write_mcpl(a, {**particles(100), "pdg": 2112}, weight=0.1, comment=["stat:sum:nsrc:" + "100000".rjust(24), "hello"])
    beam = sluice.read(a)
    assert (beam.header.pdg, beam.header.weight, beam.header.stat_sum, beam.header.blobs) == (2112, 0.1, {"nsrc": 1e5}, {})
    kept = sluice.filter(beam, "x > 0")
    sluice.write_mcpl(b, {name: kept[name] for name in kept if name != "pdg"}, header=kept, comment="more")
    made = sluice.read(b)
    assert made.header.comments == ["stat:sum:nsrc:" + "100000".rjust(24), "Read from a list of " + beam.header.source,
                                    "hello", "more"]
    assert (made.n, made.header.pdg, made.header.weight) == (kept.n, 2112, 0.1) and kept.n < 100
    sluice.write_mcpl(c, {**kept, "weight": kept["weight"] * 2}, header=[beam, made.header])
    assert (sluice.read(c).header.weight, sluice.read(c).header.stat_sum) == (0, {"nsrc": 2e5})
    sluice.write_mcpl(c, kept, header=(), force=True)
    assert sluice.read(c).header.comments == [] and sluice.read(c).header.pdg == 0
    refuse("BAD_INPUT", "repeated", path=c, columns=kept, comment="stat:sum:nsrc:" + "1".rjust(24), force=True)

    names = ["x", "y", "z", "u", "v", "w", "time", "weight"]
    run = sluice.run(SLAB, out=tmp_path / "run", columns=names)
    for survivors in run.survivors, sluice.open(tmp_path / "run").survivors, sluice.run(SLAB, columns=names).survivors:
        sluice.write_mcpl(c, survivors, energy=2e-3, pdg=22, force=True)
        assert sluice.read(c).header.stat_sum == {"sluice_generated": 6000}
    for header in None, run, [run]:
        sluice.write_mcpl(c, run, energy=2e-3, pdg=22, force=True, header=header)
        assert sluice.read(c).header.stat_sum == {"sluice_generated": 6000} and sluice.read(c).n == run.survivors.n
    assert sluice.read(c).header.blobs["sluice_config"].startswith(b"run:")
    for particles_of_a, share in ((100, 1e5), (50, 5e4)):
        result = sluice.run({"run": {"particles": particles_of_a}, "model": {"list": {"files": [str(a)]}}, "keep": "x > 0 cm"})
        assert result.survivors.header.stat_sum == {"sluice_generated": particles_of_a, "nsrc": share}
        assert "hello" in result.survivors.header.comments
    assert pickle.loads(pickle.dumps(beam)).header.comments == beam.header.comments


def test_lists_of_other_programs(tmp_path):
    for file in "latch.IAEAphsp", "source.h5":
        shutil.copytree(FORMATS / "phase_space/reference", tmp_path, dirs_exist_ok=True)
        sluice.convert(tmp_path / file, tmp_path / "list.mcpl", force=True)
        assert same(sluice.read(tmp_path / file), sluice.read(tmp_path / "list.mcpl"))
        assert sluice.read(tmp_path / file).header.source == sluice.read(tmp_path / "list.mcpl").header.source


def test_arrays_of_numpy_are_lists(tmp_path):
    columns = particles(3000, numpy.float64)
    columns.update(userflags=numpy.arange(3000), extra=numpy.zeros((3000, 2)), name=numpy.array(["text"] * 3000))
    for save in numpy.savez, numpy.savez_compressed:
        for kind in "f4", "f8":
            save(tmp_path / "list.npz", **{k: v.astype(kind) if v.dtype.kind == "f" and v.ndim == 1 else v for k, v in columns.items()})
            table = sluice.read(tmp_path / "list.npz")
            for name in set(columns) - {"extra", "name"}:
                assert numpy.allclose(table[name], columns[name], rtol=3e-7, atol=3e-7), name
    names = [name for name in columns if name not in ("extra", "name")]
    numpy.savetxt(tmp_path / "list.csv", numpy.array([columns[name] for name in names]).T, header=",".join(names), delimiter=",")
    assert same(sluice.read(tmp_path / "list.csv"), table)


def test_damaged_lists(tmp_path):
    path = tmp_path / "list.mcpl"
    sluice.write_mcpl(path, particles(300))
    content = path.read_bytes()
    for readable in (content + b"x", content[:8] + bytes(8) + content[16:]):  # its writer died before it stored the number
        path.write_bytes(readable)
        assert sluice.read(path).n == 300
    for damaged in (content[:-1], content[:60]):
        path.write_bytes(damaged)
        refused(lambda: sluice.read(path), "BAD_INPUT")


def test_mcpl_of_others(tmp_path):
    mcpl = pytest.importorskip("mcpl")
    columns = particles(5000)
    sluice.write_mcpl(tmp_path / "list.mcpl.gz", columns, comment="a comment")
    file = mcpl.MCPLFile(str(tmp_path / "list.mcpl.gz"))
    assert file.nparticles == 5000 and file.comments == ["a comment"]
    block = file.read_block()
    assert numpy.array_equal(block.x, columns["x"]) and numpy.array_equal(block.pdgcode, columns["pdg"])
    assert numpy.allclose(block.uz, columns["w"], atol=1e-6)


def test_an_existing_file_is_not_replaced(tmp_path):
    columns, path = particles(10), tmp_path / "list.mcpl"
    path.write_text("mine")
    refuse("OUTPUT_IN_USE", "force=True", path=path, columns=columns)
    assert path.read_text() == "mine"
    columns["x"][3] = numpy.nan
    refuse(path=path, columns=columns, force=True)
    assert path.read_text() == "mine" and os.listdir(tmp_path) == ["list.mcpl"]
    columns["x"][3] = 0
    sluice.write_mcpl(path, columns, force=True)
    assert sluice.read(path).n == 10 and os.listdir(tmp_path) == ["list.mcpl"]


def test_columns_that_do_not_fit(tmp_path):
    path, columns = tmp_path / "list.mcpl", particles(300)

    def value(name, at, number, kind="f4"):
        values = columns[name].astype(kind)
        values[at] = number
        return {name: values}
    for message, other in [
            ("x[3] is nan, but must be finite", value("x", 3, numpy.nan)), ("time[299] is inf", value("time", 299, numpy.inf)),
            ("y[0] is -inf", value("y", 0, -numpy.inf)), ("w[299] is nan", value("w", 299, numpy.nan)),
            ("energy[7] is -0.001, but must be at least 0", value("energy", 7, -1e-3)),
            ("of particle 250 are 2,", value("u", 250, 2)), ("weight[1] is nan", value("weight", 1, numpy.nan)),
            ("x[4] is 1e+300, but must be finite in single precision", value("x", 4, 1e300, "f8")),
            ("weight[4] is 1e-46, which is 0 in single precision", value("weight", 4, 1e-46, "f8")),
            ("pdg[0] is 3000000000", {"pdg": numpy.full(300, 3_000_000_000)}),
            ("userflags[0] is -1", {"userflags": numpy.full(300, -1)}),
            ("z: the array has 299 items, and x has 300", {"z": columns["z"][:299]}),
            ("pdg: the array has items of float32; convert them to integers", {"pdg": columns["x"]}),
            ("2 dimensions", {"x": numpy.zeros((300, 1), numpy.float32)}),
            *(("not a number", {"x": o}) for o in (columns["x"].astype(">f4"), object(), "text", numpy.zeros(300, "f4,f4"))),
            ("pol_y: the column is missing", {"pol_x": columns["x"]})]:
        refuse("USAGE", message, path=path, columns={**columns, **other}, precision="single")
    refuse("USAGE", "number of particles is unknown", path=path, columns={k: 1 for k in columns})
    del columns["time"]
    refuse("USAGE", "time: the column is missing", "time=0.0", path=path, columns=columns)
    refuse("USAGE", ".mcpl or .mcpl.gz", path=tmp_path / "list.h5", columns=columns)
    refuse("DISK", path=tmp_path / "none" / "list.mcpl", columns=particles(2))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("tail", [b"", b"more"])  # bytes after the last particle are read in another way
@pytest.mark.parametrize("name, value", [("x", -1e300), ("energy", 1e39), ("time", 1e39), ("weight", 1e39), ("weight", 1e-46)])
def test_numbers_that_a_column_cannot_hold(tmp_path, name, value, tail):
    path, columns = tmp_path / "list.mcpl", particles(3000, numpy.float64)
    columns[name][2998] = value
    sluice.write_mcpl(path, columns)
    path.write_bytes(path.read_bytes() + tail)
    with pytest.raises(sluice.Error, match=f"list.mcpl: particle 2998 .from 0.: its {name} is .*in single precision"):
        sluice.read(path, precision="single")
    assert sluice.read(path)[name][2998] == pytest.approx(value)
    columns[name][2998] = 1e-44  # fewer digits
    sluice.write_mcpl(path, columns, force=True)
    path.write_bytes(path.read_bytes() + tail)
    assert 0 < sluice.read(path, precision="single")[name][2998] < 1.1e-38


def test_memory_is_given_back(tmp_path):
    """Each array has no more references after a call, refused or not. What exports a buffer: test_columns.py."""
    columns = particles(100)
    before = [sys.getrefcount(v) for v in columns.values()]
    sluice.write_mcpl(tmp_path / "list.mcpl", columns)
    refuse("OUTPUT_IN_USE", path=tmp_path / "list.mcpl", columns=columns)
    refuse(path=tmp_path / "other.mcpl", columns={**columns, "pol_z": object()})
    gc.collect()  # tracebacks
    assert before == [sys.getrefcount(v) for v in columns.values()]


# --- gzip files -----------------------------------------------------------------------------------

@pytest.mark.parametrize("cuts", share([[], [1], [9, 500_000], list(range(70_001, 1_700_000, 70_001))], 2))
def test_gzip_files_of_any_members(tmp_path, cuts):
    path, packed = tmp_path / "list.mcpl", tmp_path / "list.mcpl.gz"
    sluice.write_mcpl(path, particles(50_000))
    plain, expected, ends = path.read_bytes(), sluice.read(path), [0, *cuts, None]
    members = [gzip.compress(plain[a:b], 1, mtime=0) for a, b in zip(ends, ends[1:])]
    for more in (b"", gzip.compress(b"", mtime=0), bytes(512)):
        packed.write_bytes(b"".join(members) + more)
        assert same(sluice.read(packed), expected)
    for damage in (len(members[0]) // 2, -6, -2):
        damaged = bytearray(b"".join(members))
        damaged[damage] ^= 8
        packed.write_bytes(damaged)
        refused(lambda: sluice.read(packed), "BAD_INPUT")


def test_gzip_with_the_beginning_of_a_member_in_its_data(tmp_path):
    """The place looks like a member and is none, so that the file is decompressed in order."""
    path, packed = tmp_path / "list.mcpl", tmp_path / "list.mcpl.gz"
    beginning = bytes([0x1f, 0x8b, 8, 0, 0, 0, 0, 0])
    columns = particles(5000)
    columns["weight"] = numpy.full(5000, numpy.frombuffer(beginning[:4], numpy.float32)[0])
    columns["weight"][::3] = 1
    columns["pdg"] = numpy.zeros(5000, numpy.int32)
    columns["pdg"][1] = 22
    sluice.write_mcpl(path, columns)
    assert path.read_bytes().count(beginning) > 1000
    packed.write_bytes(gzip.compress(path.read_bytes(), 0, mtime=0))
    assert packed.read_bytes().count(beginning) > 1000
    assert same(sluice.read(packed), sluice.read(path))


@pytest.mark.parametrize("name", ["source.h5", "latch.IAEAphsp"])
def test_lists_of_other_formats(name, tmp_path):
    path = SOURCE / "tests/stages/formats/phase_space/reference" / name
    sluice.convert(path, tmp_path / "list.mcpl")
    read, expected = sluice.read(path), sluice.read(tmp_path / "list.mcpl")
    assert list(read) == list(expected) and same(read, expected) and read.n > 3
    (tmp_path / "cut.h5").write_bytes((SOURCE / "tests/stages/formats/phase_space/reference/source.h5").read_bytes()[:-900])
    refused(lambda: sluice.read(tmp_path / "cut.h5"), "BAD_INPUT")
