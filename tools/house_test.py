# SPDX-License-Identifier: Apache-2.0
"""What an operator costs in lines, and that nothing generic knows an operator by name."""
import collections
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
HANDS = ("reference", "oracles", "generators")
# Lines of one operator in all hands together: what its text says, pinned cases aside.
BUDGETS = {"one": 40, "broadcast": 40, "axis": 80, "moved": 120, "window": 120, "product": 120, "reduced": 80}
# The first operators, which carry fast halves and filters of their own.
FIRST = {"Conv", "AveragePool", "DeformConv", "QLinearConv", "NhwcConv"}
# What is more, and may only shrink: a text of many rulings, integers and floats apart, or chance (Dropout).
LARGER = {"SwiGLU": 49, "Shrink": 85, "Mod": 97, "Clip": 123, "Pow": 189, "Cast": 68, "CastLike": 68, "Dropout": 247, "Concat": 140, "Slice": 202,
          "Scatter": 138, "ScatterElements": 138, "ScatterND": 138, "Pad": 180, "CenterCropPad": 180,
          "Split": 276, "Resize": 690, "TensorScatter": 152, "Range": 267, "Unique": 304,
          "MatMulInteger16": 131, "MatMulIntegerToFloat": 151, "DynamicQuantizeMatMul": 151, "QGemm": 151, "QLinearAdd": 64, "QLinearMul": 64,
          "QuantizeLinear": 280, "DequantizeLinear": 280, "DynamicQuantizeLinear": 219, "FusedConv": 225,
          "NegativeLogLikelihoodLoss": 152, "SoftmaxCrossEntropyLoss": 152,
          "MaxUnpool": 306, "Det": 301, "RoiAlign": 603, "NonMaxSuppression": 491, "AffineGrid": 240, "Einsum": 896, "MaxRoiPool": 344, "Upsample": 399, "GridSample": 461,
          "StringConcat": 100, "StringSplit": 142, "RegexFullMatch": 704, "StringNormalizer": 272, "TfIdfVectorizer": 352,
          "FeatureVectorizer": 187, "Binarizer": 122, "Imputer": 122, "Scaler": 122,
          "ArrayFeatureExtractor": 122, "OneHotEncoder": 122, "CategoryMapper": 163, "LabelEncoder": 163}
# Names of inputs that are words, or letters, of much else.
PLAIN = {"a", "b", "shape", "data", "input", "output", "A", "C", "Z", "max", "min", "saturate", "mode", "upper", "starts", "ends",
         "start", "end", "k", "axes", "p", "broadcast", "value", "ratio", "values", "counts", "depth", "limit", "size", "target",
         "scores", "interleaved", "T", "V", "offset", "bits", "N"}
# Strings that name an operator, an input or an attribute where nothing may. The list may only shrink, but for
# the schemas of onnx_contrib.cpp; of onnx_io_case.cpp one
# is the Identity that a wrapper of graphs needs.
NAMING = {
    "generators/convolution.cpp": 52,
    "generators/features.cpp": 2,
    "generators/operator_generator.h": 3,
    "generators/shapes.cpp": 9,
    "oracles/rules/broadcast.cpp": 10,
    "oracles/rules/convolution.cpp": 3,
    "oracles/exact/geometry.cpp": 11,
    "oracles/judging/error_map.cpp": 1,
    "oracles/rules/sampling.cpp": 3,
    "reference/convolution.cpp": 8,
    "reference/call.cpp": 2,
    "reference/onnx_contrib.cpp": 100,
    "reference/onnx_io_case.cpp": 2,
    "reference/profiles.cpp": 9,
    "reference/rulings.cpp": 1,
    "reference/window.cpp": 29,
    "suites/triage/case_words.cpp": 1,
    "suites/triage/wrong_models.cpp": 7,
    "suites/sandbox/sandbox.cpp": 1,
    "suites/doctor/checks_running.cpp": 1,
    "suites/doctor/checks_hardship.cpp": 1,
    "suites/doctor/checks_starting.cpp": 1,
    "suites/planning/coverage.cpp": 5,
    "suites/planning/law_breach.cpp": 2,
    "suites/planning/laws.cpp": 34,
    "suites/doctor/tested_worker.cpp": 19,
    "suites/campaign/signature.cpp": 6,
}


def functions():
    """The operators as operators.def lists them: (name, function)."""
    text = (ROOT / "reference/operators.def").read_text()
    return re.findall(r'^OPERATOR\("[^"]*", (\w+), (\w+)\)', text, re.M)


def counted(path):
    lines = [line.strip() for line in path.read_text().splitlines()]
    return sum(1 for line in lines if line and not line.startswith(("// SPDX", "#include")))


def file_of(folder, function):
    """The file of that hand that defines the function, and how many operators it defines; None where there is none."""
    for path in sorted((ROOT / folder / "ops").glob("*.cpp")):
        if path.stem.endswith("_test"):
            continue
        defined = re.findall(r"^(?:Operator|Oracle|const OperatorGenerator&) (\w+)\(\) \{", path.read_text(), re.M)
        if function in defined:
            return path, len(defined)
    return None


class House(unittest.TestCase):
    maxDiff = None

    def test_an_operator_costs_no_more_lines_than_its_family_allows(self):
        checked = 0
        for name, function in functions():
            hands = [found for folder in HANDS if (found := file_of(folder, function))]
            shaping = re.search(r"Shaping::(\w+)", hands[0][0].read_text())[1]
            if shaping not in BUDGETS or name in FIRST:
                continue
            lines = sum(counted(path) / operators for path, operators in hands)
            with self.subTest(name):
                self.assertLessEqual(lines, LARGER.get(name, BUDGETS[shaping]))
            checked += 1
        self.assertGreaterEqual(checked, 3)

    def test_the_table_of_element_types_is_that_of_every_file_that_lists_them(self):
        rows = re.findall(r'^(?:SMALL_)?DTYPE\((\w+), (\d+), [\w:]+, "\w+", "\w+\.(\w+)"\)', (ROOT / "reference/dtypes.def").read_text(), re.M)
        self.assertGreaterEqual(len(rows), 12)
        files = {name: (ROOT / name).read_text() for name in (
            "tools/backends/assay_backend.h", "tools/python/src/assay/__init__.py",
            "tools/python/src/assay_pytest/certification.py", "reports/page/page.js", "reports/report.schema.json",
            "reports/certificate.schema.json", "reports/fuzz.schema.json", "suites/triage/glossary.cpp")}
        for row, number, numpy in rows:
            name = "bool" if row == "boolean" else row
            for file, text in files.items():
                with self.subTest(file=file, type=name):
                    self.assertRegex(text, rf"\b{name}\b")
            self.assertRegex(files["tools/backends/assay_backend.h"].replace("\n *", ""), rf"\b{number} {name}\b")
            self.assertIn(f'"{numpy.rstrip("_")}": "{name}"', files["tools/python/src/assay/__init__.py"])

    def test_no_two_headers_give_one_name_to_different_types(self):
        declared = re.compile(r"^(?:template <[^;{]*>\s*)?(?:struct|class|enum class) (\w+)(?: final)?(?: : [^;{]*)?\s*\{|^using (\w+) = ([^;]*);",
                              re.MULTILINE)
        types = collections.defaultdict(dict)
        for folder in ("reference", "oracles", "generators", "suites", "reports", "tools"):
            for path in sorted((ROOT / folder).rglob("*.h")):
                for match in declared.finditer(path.read_text()):
                    name = match[1] or match[2]
                    types[name][str(path.relative_to(ROOT))] = match[3] or f"{name} of {path}"
        self.assertGreater(len(types), 200)
        # Two names for the same type are one word.
        self.assertEqual({}, {name: sorted(where) for name, where in types.items() if len(set(where.values())) > 1})

    def test_nothing_generic_names_an_operator_an_input_or_an_attribute(self):
        definitions = "".join(path.read_text() for path in (ROOT / "reference/ops").glob("*.cpp"))
        definitions += (ROOT / "reference/window.cpp").read_text() + (ROOT / "reference/convolution.cpp").read_text()
        parameters = re.findall(
            r'\.(?:input|parameter|output|attribute|required_integer|required_ints|optional_ints)\("(\w+)"', definitions)
        words = ({name for name, _ in functions()} | set(parameters)) - PLAIN
        self.assertLessEqual({"Conv", "Relu", "X", "kernel_shape", "y_scale"}, words)
        string = re.compile(r'"((?:[^"\\]|\\.)*)"')
        found = collections.Counter()
        for folder in ("reference", "oracles", "generators", "suites", "reports", "tools"):
            for path in sorted((ROOT / folder).rglob("*")):
                at = path.relative_to(ROOT)
                if path.suffix not in (".cpp", ".h") or path.stem.endswith("_test") or {
                        "ops", "families", "graphs", "fast", "crosscheck", "mutation", "backends", "bench", "lab", "testing"} & set(at.parts):
                    continue
                code = "\n".join(line.split("//")[0] for line in path.read_text().splitlines())
                count = sum(1 for text in string.findall(code) if text in words)
                if count:
                    found[str(at)] = count
        self.assertEqual(NAMING, dict(found), "names crept in, or NAMING can be made smaller")
