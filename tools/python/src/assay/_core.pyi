# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence
from typing import Any

__version__: str

def examine(
    model: bytes,
    inputs: Sequence[tuple[str, str, Sequence[int], bytes]],
    outputs: Sequence[tuple[str, str, Sequence[int], bytes]],
    level: str,
    accumulator: str,
) -> dict[str, Any]: ...
