// SPDX-License-Identifier: Apache-2.0
// Whatever a file or a line holds, every reader takes it or says in one line why not: no other exception, no crash.
//
// Each reader is given documents of ours that were damaged (damage.h), 2,000 in all, with ASSAY_FULL=1 20,000. A trial
// is a function of its number and of ASSAY_SEED; what breaks a reader is kept in a file.
// tools/verbs/untrusted_input_test.py does the same through the command line, and sees the exit codes.
#include "oracles/judging/case_class.h"
#include "reference/testing/run_size.h"
#include "reports/certificate.h"
#include "reports/difference.h"
#include "reports/fuzz_report.h"
#include "reports/matrix.h"
#include "reports/merge.h"
#include "reports/verify.h"
#include "suites/campaign/case_runner.h"
#include "suites/crosscheck/damage.h"
#include "suites/expectations/baseline.h"
#include "suites/expectations/waivers.h"
#include "suites/golden/audit.h"
#include "suites/golden/golden_folder.h"
#include "suites/golden/golden_graphs.h"
#include "suites/golden/golden_outputs.h"
#include "suites/graphs/graph_run.h"
#include "suites/mutation/mutants.h"
#include "suites/sandbox/process.h"
#include "suites/text/printable.h"
#include "suites/triage/finding_folder.h"
#include "suites/triage/wrong_models.h"
#include "suites/workers/catalogue.h"
#include "suites/workers/frame.h"
#include "suites/workers/npy.h"
#include "suites/workers/own_kernels.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

namespace assay::crosscheck {
namespace {

const suites::Sorting few{.examples = 2, .most_runs = 30};

namespace fs = std::filesystem;
using suites::SuiteCase;

Int number_in(const char* variable, Int otherwise) {
  const char* told = std::getenv(variable);
  return told ? std::stoll(told) : otherwise;
}

// Returns how many trials there are of all readers together.
Int trials() { return static_cast<Int>(thinned(count(2'000, 20'000))); }

const char* const bug = "conv-interleaves-pads";

// Our own kernels with a planted bug in Conv; refuses where pads are stated and a dilation is.
class Buggy final : public suites::InProcess {
 public:
  Buggy() : InProcess("buggy", kernel_of) {}

 private:
  static FastKernel kernel_of(const Definition& definition) {
    if (std::optional<Kernel> wrong = mutation::mutant(bug, definition.version))
      return [wrong = *std::move(wrong)](const Call& call, std::span<const Tensor* const> in, int) {
        return wrong(call, in);
      };
    return definition.fast;
  }
};

// Documents of every kind that is read, made once by what writes them.
struct Documents {
  suites::TemporaryDirectory folder;
  suites::Suite suite;
  std::string report, fuzz, shard, certificate, matrix, manifest, description;
  std::vector<std::string> lines;

  Documents() {
    plan_suite();
    make_report();
    make_fuzz();
    make_golden();
    std::ofstream(path("good.json")) << report;
    const std::vector<std::string> files{path("good.json").string()};
    std::ostringstream out;
    reports::write_matrix_json(reports::read_matrix(files), out);
    matrix = out.str();
  }
  fs::path path(const char* name) const { return folder.path() / name; }

 private:
  static suites::OpenBackend opener() {
    return [] { return std::make_unique<Buggy>(); };
  }

  static reports::Invocation invocation() {
    reports::Invocation invocation;
    invocation.tool_version = "0.1.0";
    invocation.backend = "buggy";
    invocation.timeout_seconds = 10;
    invocation.memory_mib = 4096;
    return invocation;
  }

  // A few cases of each operator version.
  void plan_suite() {
    suites::SuiteRequest selection;
    selection.generated = 82;
    suite = suites::plan("suites", selection);
    std::map<OpVersion, int> taken;
    std::erase_if(suite.cases, [&](const SuiteCase& planned) {
      return planned.c.is_legal() ? ++taken[planned.c.version] % 20 != 3 : ++taken[planned.c.version] % 20 != 9;
    });
    suite.complete = true;  // a certificate takes no less
    suite.hash = suites::suite_hash(suite.cases);
    for (const SuiteCase& planned : suite.cases) lines.push_back(planned.line);
  }

  void make_report() {
    suites::WorkerPool pool(opener(), 1);
    const suites::RunOptions run_options;
    const oracles::Judgement judgement{invocation().level, pool.describe().arithmetic};
    std::vector<suites::Failure> failures;
    suites::Campaign done = suites::run(suite, pool, run_options, [&](const suites::CaseResult& each) {
      if (suites::is_finding(each.verdict.state))
        failures.push_back(
            suites::failure_of(each.index, suite.cases[each.index], each.outcome, each.verdict, judgement));
    });
    std::ranges::sort(failures, {}, &suites::Failure::index);
    std::vector<suites::Finding> found = suites::findings_of(failures, pool, run_options, suites::wrong_models(), few);
    reports::Report made =
        reports::report(suite, std::move(done), invocation(), {"2026-01-01T00:00:00Z", 1, 1, "any"}, {},
                        suites::sorted(std::move(failures), std::move(found), suites::wrong_models()));
    std::ostringstream out, sealed;
    reports::write_json(made, out);
    report = out.str();
    reports::write_certificate(
        made, {sha256("tool"), {}, suites::default_generated, "", reports::report_identity(made)}, sealed);
    certificate = sealed.str();
  }

  std::string fuzz_report(const suites::Shard& part, const char* name) {
    reports::FuzzReport made;
    made.plan.selection.operators = {"Conv-11", "AveragePool-19"};
    made.plan.cases = 60;
    made.plan.islands = 1;
    made.plan.shard = part;
    made.invocation = invocation();
    const suites::RunOptions run_options;
    suites::WorkerPool pool(opener(), 1);
    made.backend = pool.describe();
    suites::Store store = suites::Store::create(
        path(name), suites::identity_of(made.plan, "buggy", made.backend, run_options, made.invocation.tool_version));
    made.complete = suites::fuzz(made.plan, pool, run_options, store);
    made.harvest = suites::harvest(store, false, false);
    made.peaks = suites::seek(made.plan, pool, run_options);
    made.excused.assign(made.harvest.failures.size(), false);
    made.findings = suites::findings_of(made.harvest.failures, pool, run_options, suites::wrong_models(), few);
    made.causes = suites::causes_of(made.findings, suites::wrong_models());
    made.folder = "findings";
    made.run = {"2026-01-01T00:00:00Z", 1, 1, "any"};
    if (!made.findings.empty())
      suites::write_finding(path("finding"), made.findings.front(), {"0.1.0", "buggy", made.backend, run_options});
    std::ostringstream out;
    reports::write_json(made, out);
    return out.str();
  }

  void make_fuzz() {
    fuzz = fuzz_report({}, "store");
    shard = fuzz_report({1, 2}, "store-1-of-2");
  }

  void make_golden() {
    suites::Suite part = suite;
    part.cases.resize(6);
    part.hash = suites::suite_hash(part.cases);
    const suites::Golden golden{reports::judgement_hash(), "0.1.0", 1, {}, 1, suites::exact_graphs(1, 4, 1)};
    manifest = text(suites::write_golden(part, golden, path("golden")));
    const auto backend = opener()();
    for (const SuiteCase& planned : part.cases)
      suites::save_outcome(path("answers"), planned, backend->run(suites::request_of(planned, {})));
    suites::save_description(path("answers"), backend->describe());
    description = *suites::file_contents(path("answers") / suites::description_file, 1 << 20);
  }
};

const Documents& documents() {
  static const Documents all;
  return all;
}

// What a trial is about: a document that was damaged, what kind of text it is, and what reads it.
struct Reader {
  enum class Kind { bytes, json, words };
  std::string name;
  Kind kind;
  std::vector<std::string> documents;
  std::function<void(const std::string&, Generator&)> read;
};

fs::path written(const char* name, const std::string& bytes) {
  const fs::path file = documents().path(name);
  suites::write_file(file, bytes);
  return file;
}

// Takes the place of a good file while it lives.
class InPlace {
 public:
  InPlace(fs::path file, const std::string& bytes)
      : file_(std::move(file)), good_(*suites::file_contents(file_, std::uintmax_t{1} << 30)) {
    suites::write_file(file_, bytes);
  }
  ~InPlace() { suites::write_file(file_, good_); }
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;

 private:
  fs::path file_;
  std::string good_;
};

// Looks at everything a value of the text is asked for; the value itself is thrown away.
void use(const std::string& text) { (void)suites::printable(text); }

// -- lines

constexpr Int most_work = 10'000'000;

// Tells whether a machine under the sanitizers computes it in no time: few elements, and few terms in each.
bool is_small(const Case& c) {
  Int work = volume(c.definition().shape(c.call())) + 1;
  for (const auto& [name, input] : c.node.inputs)
    if (input.presence == Input::Presence::given && __builtin_mul_overflow(work, volume(input.type.shape) + 1, &work))
      return false;
  for (const auto& [name, attribute] : c.node.attributes)
    if (const auto* values = std::get_if<Ints>(&attribute))
      for (const Int value : *values)
        if (__builtin_mul_overflow(work, value, &work)) return false;
  return work < most_work * 1'000;
}

void read_line(const std::string& line, Generator&) {
  const Result<Case> c = parse_case(line);
  if (!c) return use(c.error());
  CHECK(*parse_case(assay::line(*c)) == *c);
  const std::vector<std::string> violated = c->definition().violated(c->call());
  use(std::string(oracles::class_of(*c)));
  for (const Profile& profile : profiles()) outside(profile, *c);
  suites::predicate_of(*c);
  if (!violated.empty() || !is_small(*c)) return;
  Buggy backend;
  const SuiteCase planned{*c, assay::line(*c), "a trial", std::nullopt};
  suites::certify(planned, backend, {});
  suites::golden_case(planned);
}

void read_graph_line(const std::string& line, Generator&) {
  const Result<GraphCase> graph = parse_graph_case(line);
  if (!graph) return use(graph.error());
  CHECK(*parse_graph_case(assay::line(*graph)) == *graph);
  if (!std::ranges::all_of(graph->steps, [](const GraphStep& step) { return is_small(step.c); })) return;
  Buggy backend;
  use(suites::run_graph(*graph, backend, {}).detail);
}

void read_cases(const std::string& text, Generator&) { suites::read_cases(text, "own.cases"); }

void read_predicate(const std::string& text, Generator& chance) {
  const Result<suites::Predicate> predicate = suites::parse_predicate(text);
  if (!predicate) return use(predicate.error());
  for (const SuiteCase& planned : documents().suite.cases) {
    const Definition* definition = &planned.c.definition();
    if (const auto mistake = predicate->mistake({&definition, 1})) use(mistake->text);
    if (chance.below(4) == 0) (void)predicate->holds(planned.c);
  }
  CHECK(suites::parse_predicate(predicate->text())->text() == predicate->text());
}

// -- reports

void render(const fs::path& report, const std::string& baseline, Generator& chance) {
  reports::Rendering rendering = reports::rendering(report, baseline);
  if (chance.below(2) == 0) rendering.grain = reports::Grain::causes;
  std::ostringstream out;
  reports::render(reports::formats()[static_cast<std::size_t>(chance.below(reports::formats().size()))], rendering,
                  out);
}

void compare(const fs::path& before, const fs::path& after) {
  const reports::Difference difference = reports::read_difference(before, after);
  std::ostringstream out;
  reports::write_text(difference, out);
  reports::write_markdown(difference, out);
  reports::write_json(difference, out);
}

void tabulate(const std::vector<std::string>& files) {
  const reports::Matrix matrix = reports::read_matrix(files);
  std::ostringstream out;
  reports::write_matrix_markdown(matrix, out);
  reports::write_matrix_summary(matrix, out);
  reports::write_matrix_page(matrix, out);
  reports::write_matrix_json(matrix, out);
}

void merge_reports(const fs::path& one, const fs::path& other) {
  const auto whole =
      reports::merged({reports::read_shard_report(one), reports::read_shard_report(other)}, suites::wrong_models());
  std::ostringstream out;
  reports::write_json(whole, out);
  reports::write_causes(whole, out);
}

void read_report(const std::string& text, Generator& chance) {
  const fs::path bad = written("bad.json", text), good = documents().path("good.json");
  switch (chance.below(8)) {
    case 0: return compare(bad, good);
    case 1: return compare(good, bad);
    case 2: return tabulate({good.string(), bad.string()});
    case 3: return render(good, bad.string(), chance);
    case 4: return (void)suites::ledger_text(suites::draft_waivers(text, "bad.json").waivers, {});
    case 5: {
      suites::Campaign campaign;
      campaign.verdicts.resize(documents().suite.cases.size());
      campaign.marks.resize(documents().suite.cases.size());
      (void)suites::compare(suites::parse_baseline(text, "bad.json"), documents().suite, campaign,
                            suites::Measure::strict);
      return;
    }
    default: return render(bad, "", chance);
  }
}

void read_fuzz_report(const std::string& text, Generator& chance) {
  const fs::path bad = written("bad.json", text), good = written("good-fuzz.json", documents().fuzz);
  switch (chance.below(6)) {
    case 0: return compare(bad, good);
    case 1: return compare(good, bad);
    case 2: return merge_reports(bad, written("good-shard.json", documents().shard));
    case 3: return (void)suites::ledger_text(suites::draft_waivers(text, "bad.json").waivers, {});
    case 4: return (void)suites::parse_baseline(text, "bad.json").knows("Conv-11", "x", {"fail", "value"});
    default: return render(bad, "", chance);
  }
}

void read_matrix(const std::string& text, Generator&) { tabulate({written("bad.json", text).string()}); }

suites::Suite suite_again(const suites::SuiteRequest&) { return documents().suite; }

void read_certificate(const std::string& text, Generator&) {
  reports::Verification verification(text, "0.1.0");
  if (verification.broken_by_itself() || verification.broken_by_tool(suite_again)) return;
  (void)verification.broken_by_report(documents().report);
}

void read_certified_report(const std::string& text, Generator&) {
  reports::Verification verification(documents().certificate, "0.1.0");
  REQUIRE_FALSE(verification.broken_by_itself());
  REQUIRE_FALSE(verification.broken_by_tool(suite_again));
  (void)verification.broken_by_report(text);
}

void read_ledger(const std::string& text, Generator&) {
  const suites::Ledger ledger = suites::parse_ledger(text, "bad.json");
  suites::Campaign campaign;
  campaign.verdicts.resize(documents().suite.cases.size());
  campaign.marks.resize(documents().suite.cases.size());
  (void)suites::settle(ledger, documents().suite, campaign, {}, suites::today());
}

// -- stores

void read_store(const std::string& bytes, Generator& chance) {
  const fs::path file = written("bad-store", bytes);
  for (const char* more : {"-wal", "-shm"}) fs::remove(file.string() + more);
  if (chance.below(3) == 0) {
    const fs::path into = documents().path("merged");
    fs::remove(into);
    return suites::merge({file, documents().path("store-1-of-2")}, into);
  }
  suites::Store store = chance.below(2) == 0 ? suites::Store::open(file)
                                             : suites::Store::resume(file, suites::Store::open(file).identity());
  (void)suites::harvest(store, true, false);
}

// -- vectors

void read_manifest(const std::string& text, Generator&) {
  const fs::path golden = documents().path("golden");
  const InPlace bad(golden / suites::manifest_name, text);
  const suites::Manifest manifest = suites::read_manifest(golden);
  (void)suites::check_hashes(golden, manifest);
  (void)suites::check_recomputed(manifest, reports::judgement_hash(), 1);
  if (const auto graphs = suites::graphs_of(manifest))
    (void)suites::judged_graphs(*graphs, documents().path("answers"), 1);
}

// Any file of the vectors or of the answers to them.
void read_vector(const std::string& bytes, const char* folder, const char* ending, Generator& chance) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(documents().path(folder)))
    if (entry.path().string().ends_with(ending)) files.push_back(entry.path());
  std::ranges::sort(files);
  REQUIRE_FALSE(files.empty());
  const InPlace bad(files[static_cast<std::size_t>(chance.below(files.size()))], bytes);
  for (const char* golden_kind : {"valid", "rejected"}) {
    const Result<suites::Audit> audit = suites::audit(documents().path("golden") / golden_kind);
    if (!audit) continue;  // no such shelf
    for (const suites::FileProblem& problem : audit->problems) use(text(problem));
  }
  const Result<suites::Suite> suite = suites::suite_of(suites::read_manifest(documents().path("golden")));
  if (!suite) throw BrokenPromise(suite.error());
  for (const SuiteCase& planned : suite->cases) {
    const suites::RecordedAnswers saved = suites::saved_outcome(documents().path("answers"), planned);
    for (const suites::FileProblem& problem : saved.problems) use(text(problem));
  }
}

void read_tensor(const std::string& bytes, Generator& chance) {
  if (const Result<Tensor> tensor = decode_tensor(bytes); !tensor) use(tensor.error());
  if (const Result<TensorType> type = decode_type(bytes); !type) use(type.error());
  read_vector(bytes, chance.below(2) == 0 ? "golden" : "answers", ".pb", chance);
}

void read_array(const std::string& bytes, Generator&) {
  for (const DType wanted : {DType::f32, DType::bf16, DType::i4})
    if (const Result<Tensor> tensor = suites::decode_npy(bytes, wanted); !tensor) use(tensor.error());
}

void read_model(const std::string& bytes, Generator& chance) {
  if (const auto nodes = node_names(bytes); !nodes) use(nodes.error());
  if (const Result<Served> served = parse_model(bytes); !served) use(served.error());
  if (const auto served = parse_nodes(bytes); !served) use(served.error());
  Buggy backend;
  suites::Request request = suites::request_of(documents().suite.cases.front(), {});
  request.model = bytes;
  (void)backend.run(request);
  read_vector(bytes, "golden", "model.onnx", chance);
}

void read_finding(const std::string& text, Generator&) {
  const InPlace bad(documents().path("finding") / "finding.json", text);
  if (const Result<SuiteCase> planned = suites::read_finding(documents().path("finding")); !planned)
    use(planned.error());
}

void read_description(const std::string& text, Generator&) {
  const InPlace bad(documents().path("answers") / suites::description_file, text);
  (void)suites::saved_description(documents().path("answers"));
}

void read_frame(const std::string& text, Generator&) {
  if (const auto introduction = suites::parse_introduction(text); !introduction) use(introduction.error());
  if (const auto answer = suites::parse_answer(text); !answer) use(answer.error());
  if (const auto selection = suites::parse_request(text); !selection) use(selection.error());
}

void read_catalogue(const std::string& text, Generator&) {
  if (const auto entries = suites::parse_catalogue(text); !entries) use(entries.error());
}

std::vector<std::string> contents_of(const fs::path& folder, const char* ending) {
  std::vector<std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().string().ends_with(ending)) all.push_back(*suites::file_contents(entry.path(), 1 << 30));
  return all;
}

// An array as numpy writes it: six bytes, two of version, the length of the header, the header, the elements.
std::string array(const std::string& header, std::size_t bytes) {
  std::string text = header + std::string(63 - (10 + header.size()) % 64, ' ') + "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() & 255) +
         static_cast<char>(text.size() >> 8) + text + std::string(bytes, '\1');
}

const char* const ledger = R"j({"ledger":1,"about":"x","entries":[{"id":"one","operators":["Conv-11","AveragePool"],
"when":"any(strides) > 1 and not has(B)","states":["fail","refused"],"because":["value"],"reason":"known","link":"l",
"owner":"me","expires":"2999-01-01"}]})j";

const std::vector<std::string> predicates{
    "auto_pad in (SAME_UPPER, SAME_LOWER) and any(dilations) > 1",
    "type(X) == f16 and (rank(X) > 4 or not has(B))",
    "any(pads) >= kernel_shape",
    "breaks(C6) or dim(X,-1) == 3",
    "not initializer(W) and recipe(X) == \"small\"",
    "shapes == symbolic and opset >= 11 and elements(X) < 7 and all(shape(X)) != 0 and states(strides)"};

const std::vector<std::string> graphs{
    "graph opset=13 ir=8 a=f32[1,2,4]~iota:1 b=f32[2,2,1]~lit:1,0,0,-1@init c=i64[2]~values:2,4@init d=Conv(a,b) "
    "e=Relu(d) "
    "f=Add(a,e) g=Reshape(f,c) h,i=Split(g){axis=0} out=e,h,i",
    "graph opset=11 ir=8 a=f32[1,1,4,4]~small:1 b=MaxPool(a){kernel_shape=2,2;strides=2,2} c=Flatten(b) d=Clip(c) "
    "out=d "
    "shapes=symbolic"};

const std::vector<std::string> frames{
    R"j({"assay":1,"backend":"x","version":"1","device":"cpu","arithmetic":{"accumulator":"f32","tf32":true},)j"
    R"j("capabilities":{"operators":["Conv-11"],"types":["f32"],"excludes":["any(strides) > 1"]},"options":{"a":["b"]}})j",
    R"j({"id":"7","outcome":"outputs","sets":[[122],[122]]})j", R"j({"id":"7","outcome":"refused","because":"busy"})j",
    R"j({"ask":"run","id":"7","options":{"threads":1,"optimization":"all"},"model":214,"sets":[[418,226],[418,226]]})j"};

std::string case_file(const std::vector<std::string>& lines) {
  std::string text = "# a comment\n";
  for (const std::string& line : lines) text += "[v.C6] " + line + " => 1,2,0x1p+3\n";
  return text;
}

void read_case_json(const std::string& text, Generator& chance) { read_vector(text, "golden", "case.json", chance); }

std::vector<Reader> readers() {
  using enum Reader::Kind;
  const Documents& all = documents();
  const std::vector<std::string> arrays{array("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 4), }", 96),
                                        array("{'descr': '>i8', 'fortran_order': True, 'shape': (5,), }", 40)};
  return {{"line", words, all.lines, read_line},
          {"graph", words, graphs, read_graph_line},
          {"cases", words, {case_file(all.lines)}, read_cases},
          {"predicate", words, predicates, read_predicate},
          {"report", json, {all.report}, read_report},
          {"fuzz report", json, {all.fuzz, all.shard}, read_fuzz_report},
          {"matrix", json, {all.matrix}, read_matrix},
          {"certificate", json, {all.certificate}, read_certificate},
          {"certified report", json, {all.report}, read_certified_report},
          {"ledger", json, {ledger}, read_ledger},
          {"store", bytes, contents_of(all.folder.path(), "store"), read_store},
          {"manifest", json, {all.manifest}, read_manifest},
          {"case.json", json, contents_of(all.path("golden"), "case.json"), read_case_json},
          {"tensor", bytes, contents_of(all.path("golden"), ".pb"), read_tensor},
          {"array", bytes, arrays, read_array},
          {"model", bytes, contents_of(all.path("golden"), "model.onnx"), read_model},
          {"finding", json, contents_of(all.path("finding"), "finding.json"), read_finding},
          {"description", json, {all.description}, read_description},
          {"frame", json, frames, read_frame},
          {"catalogue", json, contents_of("tools/backends", "catalogue.json"), read_catalogue}};
}

std::string damaged(const Reader& reader, const std::vector<std::string>& donors, Generator& chance) {
  const std::string& document = reader.documents[static_cast<std::size_t>(chance.below(reader.documents.size()))];
  switch (reader.kind) {
    case Reader::Kind::bytes: return damaged_bytes(document, chance);
    case Reader::Kind::json: return damaged_json(document, donors, chance);
    default: return damaged_words(document, reader.documents, chance);
  }
}

// Every kind of JSON: a report stands where a ledger is read.
std::vector<std::string> donors_of(const std::vector<Reader>& readers) {
  std::vector<std::string> all;
  for (const Reader& reader : readers)
    if (reader.kind == Reader::Kind::json) all.insert(all.end(), reader.documents.begin(), reader.documents.end());
  return all;
}

// What the reader throws that is no refusal, or nothing.
std::string breach(const Reader& reader, const std::string& text, Generator& chance) {
  try {
    reader.read(text, chance);
  } catch (const InputError& error) {
    use(error.what());
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("whatever is read is taken, or refused in words", "[untrusted]") {
  const std::vector<Reader> all = readers();
  const std::vector<std::string> donors = donors_of(all);
  const auto seed = static_cast<std::uint64_t>(number_in("ASSAY_SEED", 1));
  const Int only = number_in("ASSAY_TRIAL", -1);
  for (const Reader& reader : all) REQUIRE_FALSE(reader.documents.empty());
  for (Int trial = std::max<Int>(only, 0); trial < (only < 0 ? trials() : only + 1); ++trial) {
    const Reader& reader = all[static_cast<std::size_t>(trial) % all.size()];
    Generator chance(Generator(seed).next() ^ static_cast<std::uint64_t>(trial));
    for (int i = 0; i < 3; ++i) (void)chance.next();
    const std::string text = damaged(reader, donors, chance);
    const fs::path kept = fs::temp_directory_path() / "assay-untrusted";
    if (number_in("ASSAY_KEEP", 0) == 1) std::ofstream(kept, std::ios::binary) << text;  // for what ends the process
    const std::string why = breach(reader, text, chance);
    if (!why.empty()) std::ofstream(kept, std::ios::binary) << text;
    INFO(reader.name << ", trial " << trial << " of seed " << seed << ", in " << kept);
    CHECK(why == "");
  }
}

TEST_CASE("what nobody damaged is taken", "[untrusted]") {
  for (const Reader& reader : readers())
    for (const std::string& document : reader.documents) {
      INFO(reader.name);
      Generator chance(3);
      if (reader.name == "store") continue;  // to merge one with itself is refused
      if (reader.name == "case.json" || reader.name == "tensor" || reader.name == "model") continue;  // of another case
      CHECK_NOTHROW(reader.read(document, chance));
    }
}

// What trials have found, each by itself.

TEST_CASE("every row of a kept table is held to the schema before it is used, not the last alone", "[untrusted]") {
  nlohmann::json table = nlohmann::json::parse(documents().matrix);
  table["reports"].push_back(table["reports"].front());
  table["reports"].front().erase("totals");
  CHECK_THROWS_AS(tabulate({written("bad.json", table.dump()).string()}), InputError);
}

TEST_CASE("a store that has lost the signature of a failure is damaged", "[untrusted]") {
  const fs::path file = documents().path("unsigned");
  suites::Store store = suites::Store::create(file, {});
  oracles::Verdict verdict;
  verdict.state = oracles::State::fail;
  verdict.because = "value";
  store.put(0, documents().lines.front(), {verdict, {}});
  CHECK_THROWS_WITH(suites::harvest(store, false, false), Catch::Contains("the store is damaged"));
  store.put_finding("signature 00000000000000000000", "one field");
  CHECK_THROWS_WITH(suites::harvest(store, false, false), Catch::Contains("the store is damaged"));
}

}  // namespace assay::crosscheck
