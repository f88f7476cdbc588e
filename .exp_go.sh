source .gpu/activate >/dev/null; mkdir -p /opt/starpu/share/starpu/perfmodels/sampling
export STARPU_SILENT=1 STARPU_WORKERS_NOBIND=1 TESSERA_TEST_DATA=$PWD/tests/data OPENBLAS_NUM_THREADS=1
B=$(which exp_regroup)
timeout 200 $B 4096 1 1e-6 tc2 8 3
timeout 100 $B 4096 1 1e-6 sp2 4 2 | grep -v "^   "
timeout 100 $B 1000 1 1e-6 tc2 8 3 | grep -v "^   "
