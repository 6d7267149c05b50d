"""The performance goals for WebGPU on an NVIDIA H200, which copies 4.3 TB/s, and where cuBLAS multiplies float32
matrices at 51 TFLOP/s. PyTorch is measured beside them if it has CUDA."""

from __future__ import annotations

from tests.bench.goals import MICROSECONDS, TERABYTES, TERAFLOPS, TIMES, Against, Bars, Goal, Reach

TORCH = "torch"
MATMUL = "our matmul 4096"  # the time that the matrix product would take for the same number of operations
UNFUSED = "unfused"  # the same calls with LANEWISE_FUSE=0


def _moved(name: str, firm: float, aim: float) -> Goal:
    return Goal(name, TERABYTES, (Reach(firm),), (Reach(aim),))


def _multiplied(name: str, firm: float, aim: float) -> Goal:
    return Goal(name, TERAFLOPS, (Reach(firm),), (Reach(aim),))


def _of_matmul(share: float) -> Bars:
    return (Against((MATMUL,), share),)


# AUTO after lw.calibrate(), on CPU tensors, compared with the better of CPU and GPU for each of many calls.
AUTO = Goal("AUTO, calibrated, over the best backend", TIMES, (Reach(1.1),), ())

WEBGPU = (
    _moved("add 2^26", 3.9, 4.2),
    _moved("relu 2^26", 3.7, 4.1),
    _moved("sum 2^26", 3.4, 3.9),
    _moved("softmax 8192 x 8192", 2.6, 3.9),
    _moved("matrix times vector 8192", 3.4, 3.9),
    _multiplied("matmul 4096", 38, 46),
    _multiplied("matmul 2048", 36, 45),
    _multiplied("matmul 1024", 30, 37),
    _multiplied("matmul 4096, B transposed", 34, 42),
    Goal("matmul 4100", TERAFLOPS, _of_matmul(0.9), _of_matmul(1.0)),
    Goal("attention, 8 heads, 2048 x 64, causal", TERAFLOPS, _of_matmul(0.4), _of_matmul(0.7)),
    Goal("conv2d 3x3, 64 x 56 x 56, batch 32", TERAFLOPS, _of_matmul(0.4), _of_matmul(0.7)),
    Goal("gelu(x * a + b) 2^26", MICROSECONDS, (Against((UNFUSED,), 2.0),), (Against((UNFUSED,), 2.8),)),
    Goal("tiny operation", MICROSECONDS, (Reach(15),), (Reach(8),)),
    Goal("read 4 bytes", MICROSECONDS, (Reach(150),), (Reach(70),)),
    AUTO,
)
