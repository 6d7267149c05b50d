"""Stands in for contracts/generate.py in the fixture `small` of ../conftest.py: writes the files that a build needs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from generator import facts

out = Path(sys.argv[2])
FILES = {
    "lanewise_facts.h": facts.emit()["lanewise_facts.h"],
    "lanewise_table.h": "#define LW_SIGNATURE UINT64_C(0x12ab)\n",
    "lanewise_dtypes.c": "int lw_dtype_count = 0;\n",
    "lanewise_operations.c": "int lw_operation_count = 0;\n",
    "lanewise_shaders.c": "int lw_shader_count = 0;\n",
    "kernels.c": '#include "kernel.h"\n',
    "lanewise/_lib/operations.json": "{}\n",
    "lanewise/_lib/shaders.wgsl": "fn f() {}\n",
}
for name, text in FILES.items():
    path = out / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
