# The Spack package of Sluice. It names no archive, because there is none yet: "spack develop"
# builds the sources of a working tree (docs/quickstart.md).

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Sluice(CMakePackage, CudaPackage):
    """Sluice runs simulation batches of particles and rays on a GPU or a CPU, with the same bits:
    it generates particles, removes the dead, sorts the survivors by a key and writes them
    compressed. The package has the program, a benchmark, and a C library of scan, stream
    compaction, radix sort and deflate."""

    license("MIT")

    version("0.1.0")

    variant("shared", default=False, description="Link the library of primitives as a shared one")

    variant("mpi", default=False, description="Runs of several processes under MPI")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("help2man", type="build")

    depends_on("hdf5~mpi")
    depends_on("isa-l")
    depends_on("libdeflate")
    depends_on("libpng")
    depends_on("libyaml")
    depends_on("zlib-api")
    depends_on("mpi", when="+mpi")

    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs, as in cuda_arch=90")

    def cmake_args(self):
        args = [
            self.define_from_variant("SLUICE_CUDA", "cuda"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("SLUICE_MPI", "mpi"),
            self.define("SLUICE_TESTS", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.builder.define_cuda_architectures(self))
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_installation(self):
        """Runs a small configuration and verifies its files."""
        sluice = Executable(self.prefix.bin.sluice)
        config = join_path(self.prefix.share, "sluice", "configs", "vandehulst.yaml")
        run = join_path(self.stage.path, "run")
        sluice("run", config, "--set", "run.particles=1e4", "--out", run, "--force", "--quiet")
        sluice("verify", run, "--quiet")
