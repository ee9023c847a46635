# SPDX-License-Identifier: Apache-2.0
from typing import Any

__version__: str

def examine(
    model: bytes,
    inputs: list[tuple[str, str, list[int], bytes]],
    outputs: list[tuple[str, str, list[int], bytes]],
    level: str,
    accumulator: str,
) -> dict[str, Any]: ...
