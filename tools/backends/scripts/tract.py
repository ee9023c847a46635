# SPDX-License-Identifier: Apache-2.0
import tempfile
import tract

version = "tract " + tract.version()


def run(model, *sets):
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:  # tract reads models from files
        onnx.save(model, file.name)
        inference = tract.onnx().load(file.name)
    for index, array in enumerate(sets[0].values()):
        kind = array.dtype.kind + str(8 * array.itemsize)
        inference.set_input_fact(index, ",".join([*map(str, array.shape), kind]))
    runnable = inference.into_model().into_runnable()
    return [[value.to_numpy() for value in runnable.run(list(inputs.values()))] for inputs in sets]
