# SPDX-License-Identifier: Apache-2.0
import cv2

version = "opencv " + cv2.__version__


def run(model, *sets):
    net = cv2.dnn.readNetFromONNX(np.frombuffer(model.SerializeToString(), np.uint8))
    answers = []
    for inputs in sets:
        for name, array in inputs.items():
            net.setInput(cv2.Mat(array, wrap_channels=False), name)
        answers.append(net.forward([output.name for output in model.graph.output]))
    return answers
