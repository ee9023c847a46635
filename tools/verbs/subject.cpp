// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/subject.h"

#include "suites/text/printable.h"
#include "suites/workers/catalogue.h"
#include "tools/verbs/options.h"
#include "tools/verbs/positional.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <optional>

namespace assay::tools {
namespace {

// How much is run in another way as well, or held to laws.
template <class Sampling>
Sampling sampling_of(const std::string& word) {
  if (word == "none") return Sampling::none;
  return word == "all" ? Sampling::all : Sampling::sample;
}

}  // namespace

void add_seconds_option(CLI::App& command, const std::string& name, double& seconds, const std::string& description) {
  command.add_option(name, seconds, description)
      ->transform(CLI::Validator(
          [](std::string& word) {
            const std::optional<double> read = seconds_of(word);
            if (!read)
              return "'" + suites::printable(word, 40) + "' is no time from 1ms to 24h; write 10, 0.5, 500ms or 2m";
            word = std::to_string(*read);
            return std::string();
          },
          "", "seconds"))
      ->capture_default_str();
}

void Subject::add_backend_word(CLI::App& command) {
  take_words(command, "what", {{Positional::backend, &backend}}, "the backend, as --backend names it");
}

void Subject::add_options(CLI::App& command) {
  CLI::Option* named = command.add_option(
      "--backend", backend,
      "what to certify: onnxruntime, reference, python:MODULE or exec:COMMAND (tools/backends/README.md)");
  if (!backend.empty()) named->capture_default_str();
  command.add_option("--level", level, "accuracy asked for: L0, L1, L2, L2t or L3")->capture_default_str();
  auto* strict_flag = command.add_flag("--strict", strict, "a contested reading does not conform");
  command.add_flag("--lenient", lenient, "a contested reading conforms and is named (default)")->excludes(strict_flag);
  add_seconds_option(command, "--timeout", timeout_seconds, "seconds a case may take");
  add_number_option(command, "--memory", memory_mib, Int{1}, Int{1} << 40, "MiB the backend may use");
  add_number_option(command, "--threads", threads, 1, 4096, "threads inside the backend");
  command.add_option("--optimization", optimization, "graph optimisation of the backend: all, extended, basic or none")
      ->check(CLI::IsMember({"all", "extended", "basic", "none"}))
      ->capture_default_str();
  command.add_option("--set", settings, "an option the backend declares, as in precision=f32; may be repeated")
      ->allow_extra_args(false);
}

void Subject::add_campaign_options(CLI::App& command) {
  add_number_option(command, "--pack", pack, 0, 1000,
                    "legal cases in one model, for runtimes that are slow to load; about 100 is best for most; 0: as "
                    "the catalogue says, else 1");
  command
      .add_option(
          "--presentations", presentations,
          "run some cases in another way as well (constants, shapes, opset, IR version, optimisation, threads, names, "
          "outputs bound beforehand): "
          "none, sample (an eighth, one way each) or all")
      ->check(CLI::IsMember({"none", "sample", "all"}))
      ->capture_default_str();
  command
      .add_option("--laws", laws,
                  "run related cases as well, whose answers must fit together (a stride by subsampling, images and "
                  "channels in another order, sums): none, sample (an eighth, one law each) or all")
      ->check(CLI::IsMember({"none", "sample", "all"}))
      ->capture_default_str();
  command.add_flag("--special-values", special_values,
                   "NaN, infinities and integer overflow count as well, as under --strict; else they are judged and "
                   "counted apart");
  command.add_flag("--exhaustive", exhaustive,
                   "run every case; else cases like three that crashed, hung or ate memory alike are put last, and not "
                   "run where nothing speaks against it");
}

void Subject::add_model_options(CLI::App& command) {
  command.add_option("--model", model,
                     "a model.onnx: its nodes are run, on data of their own and on what arrives there");
  command.add_option(
      "--inputs", model_inputs,
      "of the model: a folder with NAME.npy or input_0.pb, input_1.pb and so on; left out, they are drawn");
  command
      .add_option(
          "--dim", dims,
          "of the model: an extent that it leaves open, by symbol or by input and axis, as in batch=1 or X.0=1; "
          "left out, that of the input that is given, else 1 of the first axis and 8 of any other")
      ->take_all()
      ->allow_extra_args(false);
}

suites::ModelSource Subject::model_source() const {
  suites::ModelSource source{model, model_inputs, {}};
  for (const std::string& dim : dims) {
    const std::size_t equals = dim.rfind('=');
    const std::string digits = equals == dim.npos ? "" : dim.substr(equals + 1);
    const bool is_number = !digits.empty() && digits.size() < 10 && digits.find_first_not_of("0123456789") == dim.npos;
    if (equals == 0 || !is_number)
      throw InputError("--dim " + suites::printable(dim, 80) + ": write a symbol and its extent, as in batch=1");
    source.extents[dim.substr(0, equals)] = std::stoll(digits);
  }
  return source;
}

int Subject::packed() const {
  if (pack > 0) return pack;
  const suites::CatalogueEntry* entry = suites::find_entry(suites::catalogue(), backend);
  return entry ? entry->pack : 1;
}

suites::Limits Subject::limits() const {
  suites::Limits limits;
  limits.run = std::chrono::milliseconds(static_cast<Int>(timeout_seconds * 1000));
  limits.memory = static_cast<std::size_t>(memory_mib) << 20;
  return limits;
}

suites::OpenBackend Subject::opener() const {
  if (backend.empty())
    throw InputError("--backend is missing; name onnxruntime, reference, python:MODULE or exec:COMMAND");
  return [spec = backend, within = limits()] { return suites::open_backend(spec, within); };
}

std::map<std::string, std::string> Subject::options() const {
  std::map<std::string, std::string> options;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw InputError("--set " + suites::printable(setting, 80) +
                       ": write an option and its value, as in precision=f32");
    if (!options.emplace(setting.substr(0, equals), setting.substr(equals + 1)).second)
      throw InputError("--set " + suites::printable(setting, 80) + ": this option is set twice");
  }
  return options;
}

suites::RunOptions Subject::run_options() const {
  suites::RunOptions run_options;
  run_options.level = level_of(level);
  run_options.settings.threads = threads;
  run_options.settings.optimization = optimization;
  run_options.options = options();
  run_options.model = model_source().words();
  run_options.pack = packed();
  run_options.presenting = sampling_of<suites::VariantSampling>(presentations);
  run_options.laws = sampling_of<suites::LawSampling>(laws);
  run_options.exhaustive = exhaustive;
  return run_options;
}

reports::Invocation Subject::invocation() const {
  reports::Invocation invocation;
  invocation.tool_version = ASSAY_VERSION;
  invocation.backend = backend;
  invocation.level = level_of(level);
  invocation.strict = strict;
  invocation.threads = threads;
  invocation.optimization = optimization;
  invocation.options = options();
  invocation.model = model_source();
  invocation.pack = packed();
  invocation.presenting = sampling_of<suites::VariantSampling>(presentations);
  invocation.laws = sampling_of<suites::LawSampling>(laws);
  invocation.exhaustive = exhaustive;
  invocation.special_values = special_values;
  invocation.timeout_seconds = timeout_seconds;
  invocation.memory_mib = memory_mib;
  return invocation;
}

}  // namespace assay::tools
