// SPDX-License-Identifier: Apache-2.0
#include "suites/graphs/graph_folder.h"

#include "reference/onnx_io.h"
#include "reference/sequence.h"
#include "suites/text/numpy_text.h"
#include "suites/triage/snippet.h"
#include "suites/workers/vector_folder.h"

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

// Compares outputs as graph_judge.h does, the tolerance of a root left out.
constexpr const char* body = R"(

def tensor(path):
    return onnx.numpy_helper.to_array(onnx.load_tensor(str(here / "test_data_set_0" / path)))


model = onnx.load(str(here / "model.onnx"))
inputs = {each.name: tensor(f"input_{i}.pb") for i, each in enumerate(model.graph.input)}
wrong = False
for i, (each, got) in enumerate(zip(model.graph.output, run(model, inputs)[0])):
    right = tensor(f"output_{i}.pb")
    if np.shape(got) != right.shape:
        print(f"{version}: {each.name} has the shape {np.shape(got)}, which is exactly {right.shape}")
        wrong = True
        continue
    differs = np.argwhere(got != right)
    print(f"{version}: {each.name} has {len(differs)} of {right.size} elements that are not right")
    for at in map(tuple, differs[:5]):
        print(f"  {each.name}{list(map(int, at))} is {got[at]}, exactly {right[at]}")
    wrong = wrong or len(differs) > 0
sys.exit(1 if wrong else 0)
)";

std::string script(const Snippet& snippet, const GraphCase& graph, const oracles::GraphVerdict& verdict,
                   const Provenance& provenance) {
  const auto ops = joined(graph.steps, " > ", [](const GraphStep& step) { return step.c.version.name; });
  std::string out =
      "# " + ops + " of " + one_line(provenance.description.backend + " " + provenance.description.version) + ": " +
      std::string(oracles::name(verdict.state)) + ", " + one_line(verdict.detail) +
      "\n# Ends with 1 while that is so and with 0 once it is mended. No rewriting of the graph by the laws of\n"
      "# arithmetic changes what is right: no sum or product needs more bits than the type has.\n"
      "import pathlib\nimport sys\n\nimport numpy as np\nimport onnx\n";
  for (const std::string& each : snippet.head) out += each + "\n";
  while (out.ends_with("\n\n")) out.pop_back();
  out += "here = pathlib.Path(__file__).resolve().parent\n\n\n";
  for (const std::string& each : snippet.functions) out += each + "\n";
  while (out.ends_with("\n\n")) out.pop_back();
  return out + body;
}

}  // namespace

std::map<std::string, std::string> files_of(const GraphCase& graph) {
  const GraphData leaves = leaves_of(graph, 0), outputs = evaluate(graph, leaves, 1);
  std::map<std::string, std::string> files{{"model.onnx", model_of(graph, leaves)}};
  const std::string set = data_set_name(0) + "/";
  int number = 0;
  for (std::string& input : graph_inputs(graph, leaves)) files[set + tensor_name("input", number++)] = std::move(input);
  number = 0;
  for (const std::string& output : graph.outputs)
    files[set + tensor_name("output", number++)] = encode_tensor(outputs.find(output)->second, output);
  return files;
}

void write_graph(const fs::path& folder, const GraphCase& graph, const oracles::GraphVerdict& verdict,
                 const Provenance& provenance) {
  for (const auto& [path, bytes] : files_of(graph)) write_file(folder / path, bytes);
  std::error_code ignored;
  fs::remove(folder / "repro.py", ignored);
  if (const Result<Snippet> snippet = snippet_of(provenance, false))
    write_file(folder / "repro.py", script(*snippet, graph, verdict, provenance));
}

}  // namespace assay::suites
